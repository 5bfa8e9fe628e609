"""Creates, updates, patches and deletes of objects and of their status and scale."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from deployments.practice import errors, identity, scale
from deployments.practice.apply import apply, refuse_duplicates
from deployments.practice.deletion import is_over
from deployments.practice.jsons import Json
from deployments.practice.kinds import options_kind
from deployments.practice.patches import json_patch, merge_patch
from deployments.practice.requests import Request, Response, json_response
from deployments.practice.routes import Target
from deployments.practice.store import Store
from deployments.practice.strategic import strategic_patch
from deployments.practice.validation.decoding import GO_NAMES
from deployments.practice.wire import incoming, outgoing

Object = dict[str, Any]

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
PATCHES: Mapping[str, Callable[[Any, Any], Any]] = {
    JSON_PATCH: json_patch,
    MERGE_PATCH: merge_patch,
    STRATEGIC_PATCH: strategic_patch,
}

# Kinds whose deletion answers with the object although it is gone; others answer a Status.
ANSWER_THE_OBJECT = frozenset(
    {
        "persistentvolumeclaims",
        "persistentvolumes",
        "pods",
        "resourcequotas",
        "serviceaccounts",
        "services",
    }
)


def create(store: Store, request: Request, target: Target) -> Response:
    obj = incoming(target.kind, body_for(request, target))
    metadata = obj.setdefault("metadata", {})
    if target.namespace:
        _settle_namespace(metadata, target)
    if metadata.get("resourceVersion"):
        message = "resourceVersion should not be set on objects to be created"
        raise errors.ApiError(500, "", message)
    made = store.create(target.plural, obj, manager=request.manager, dry_run=request.dry_run)
    return json_response(outgoing(target.kind, made), 201)


def update(store: Store, request: Request, target: Target) -> Response:
    body = body_for(request, target)
    with store.lock:
        changed = _replaced(store, request, target, body)
        return _written(store, request, target, changed)


def _replaced(store: Store, request: Request, target: Target, body: Object) -> Object:
    _check_name(body, target)
    if target.subresource == "scale":
        return scale.applied(store.get(target.plural, target.namespace, target.name), body)
    obj = incoming(target.kind, body)
    _settle_namespace(obj.setdefault("metadata", {}), target)
    return obj


def patch(store: Store, request: Request, target: Target) -> Response:
    if request.media_type == APPLY_PATCH:
        return _apply(store, request, target)
    change = PATCHES.get(request.media_type)
    if change is None:
        raise errors.unsupported_media_type()
    body = _patch_body(request)
    with store.lock:
        live = _shown(store, target)
        changed = change(outgoing(target.kind, live), body)
        if not isinstance(changed, dict):
            raise errors.rejected()
        identity.check_patched_uid(target.kind, changed, live)
        return _written(store, request, target, _replaced(store, request, target, changed))


def _patch_body(request: Request) -> Json:
    """Return a patch as JSON. Raises 400 in the words of Go's decoder."""
    try:
        body = json.loads(request.body)
    except ValueError:
        raise errors.bad_request("error decoding patch: unexpected end of JSON input") from None
    wanted, go = (list, "[]handlers.jsonPatchOp") if request.media_type == JSON_PATCH else (
        dict, "map[string]interface {}"
    )  # fmt: skip
    if not isinstance(body, wanted):
        given = GO_NAMES.get(type(body), "null")
        raise errors.bad_request(
            f"error decoding patch: json: cannot unmarshal {given} into Go value of type {go}"
        )
    return body


def _shown(store: Store, target: Target) -> Object:
    live = store.get(target.plural, target.namespace, target.name)
    return scale.of(live) if target.subresource == "scale" else live


def _written(store: Store, request: Request, target: Target, changed: Object) -> Response:
    new = store.update(
        target.plural,
        changed,
        subresource=target.subresource,
        manager=request.manager,
        dry_run=request.dry_run,
    )
    shown = scale.of(new) if target.subresource == "scale" else outgoing(target.kind, new)
    return json_response(shown)


def _apply(store: Store, request: Request, target: Target) -> Response:
    manager = request.query.get("fieldManager")
    if not manager:
        cause = errors.Cause(
            "FieldValueRequired", "Required value: is required for apply patch", "fieldManager"
        )
        raise errors.invalid(_PATCH_OPTIONS, "", [cause])
    wanted = body_for(request, target, exact=True)
    wanted["metadata"].setdefault("name", target.name)
    _check_name(wanted, target)
    refuse_duplicates(wanted)
    if wanted["metadata"].get("managedFields"):
        raise errors.bad_request("metadata.managedFields must be nil")
    with store.lock:
        live = store.find(target.plural, target.namespace, target.name)
        if live is not None:
            identity.check_patched_uid(target.kind, wanted, live)
        new = apply(
            live,
            {**wanted, "metadata": _with_namespace(wanted["metadata"], target)},
            manager=manager,
            force=request.flag("force"),
            subresource=target.subresource,
            now=store.clock(),
        )
        return _apply_written(store, request, target, new, live)


def _with_namespace(metadata: Object, target: Target) -> Object:
    return metadata | {"namespace": target.namespace} if target.namespace else metadata


def _apply_written(
    store: Store, request: Request, target: Target, new: Object, live: Object | None
) -> Response:
    if live is None:
        if target.subresource:
            raise errors.not_found(target.kind, target.name)
        made = store.create(target.plural, new, dry_run=request.dry_run, operation="Apply")
        return json_response(outgoing(target.kind, made), 201)
    written = store.update(
        target.plural,
        new,
        subresource=target.subresource,
        operation="Apply",
        dry_run=request.dry_run,
    )
    return json_response(outgoing(target.kind, written))


def delete(store: Store, request: Request, target: Target) -> Response:
    options = request.json() if request.body.strip() else {}
    dry_run = request.dry_run or options.get("dryRun") == ["All"]
    with store.lock:
        gone = store.delete(
            target.plural,
            target.namespace,
            target.name,
            propagation=_propagation(request, options, target.plural),
            uid=options.get("preconditions", {}).get("uid"),
            resource_version=options.get("preconditions", {}).get("resourceVersion"),
            grace_seconds=_grace(request, options),
            dry_run=dry_run,
        )
        stays = not is_over(target.plural, gone)
    if stays or target.plural in ANSWER_THE_OBJECT:
        return json_response(outgoing(target.kind, gone))
    return json_response(_success(target, gone))


def _propagation(request: Request, options: Object, plural: str) -> str:
    asked = request.query.get("propagationPolicy") or options.get("propagationPolicy")
    if asked is None:
        # Old clients of batch/v1 rely on it: a Job that is deleted plainly leaves its pods behind.
        return "Orphan" if plural == "jobs" else "Background"
    if asked not in ("Background", "Foreground", "Orphan"):
        raise errors.invalid(_DELETE_OPTIONS, "", [_unknown_policy(asked)])
    return str(asked)


def _unknown_policy(asked: str) -> errors.Cause:
    supported = '"Foreground", "Background", "Orphan", "nil"'
    message = f'Unsupported value: "{asked}": supported values: {supported}'
    return errors.Cause("FieldValueNotSupported", message, "propagationPolicy")


def _grace(request: Request, options: Object) -> int | None:
    asked = request.number("gracePeriodSeconds")
    return asked if asked is not None else options.get("gracePeriodSeconds")


def _success(target: Target, gone: Object) -> Object:
    kind = target.kind
    details = {"name": target.name, "group": kind.group, "kind": kind.plural}
    details["uid"] = gone["metadata"]["uid"]
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {name: value for name, value in details.items() if value},
    }


def body_for(request: Request, target: Target, *, exact: bool = False) -> Object:
    """Return the body as an object of the target's kind. Raises 400.

    With `exact` it must say its own kind and version, as an apply must.
    """
    kind, version = scale.named(target)
    body = _object(request, kind)
    if not exact:
        body.setdefault("apiVersion", version)
        body.setdefault("kind", kind)
    if exact and (body.get("apiVersion"), body.get("kind")) != (version, kind):
        given = body.get("apiVersion") or "/", body.get("kind", "")
        raise errors.bad_request(f"invalid object type: {given[0]}, Kind={given[1]}")
    if body.get("apiVersion") != version or body.get("kind") != kind:
        raise errors.bad_request(_other_kind(body, kind, version))
    if not isinstance(body.setdefault("metadata", {}), dict):
        raise errors.bad_request("metadata must be an object")
    return body


def _object(request: Request, kind: str) -> Object:
    try:
        body = json.loads(request.body)
    except ValueError as error:
        why = f"couldn't get version/kind; json parse error: {error}"
    else:
        if isinstance(body, dict):
            return body
        why = "couldn't get version/kind; json parse error: not an object"
    message = f"the object provided is unrecognized (must be of type {kind}): {why}"
    raise errors.bad_request(message)


def _other_kind(body: Object, kind: str, version: str) -> str:
    given_version, given_kind = body.get("apiVersion", ""), body.get("kind", "")
    bare = version.rpartition("/")[2]
    refused = f'{given_kind} in version "{bare}" cannot be handled as a {kind}: '
    if given_version != version:
        return f'{refused}no kind "{given_kind}" is registered for version "{given_version}"'
    return f"{refused}converting ({bare}.{given_kind}) to {kind}: unknown conversion"


def _settle_namespace(metadata: Object, target: Target) -> None:
    if not target.namespace:
        return
    if metadata.setdefault("namespace", target.namespace) != target.namespace:
        raise errors.bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )


def _check_name(body: Object, target: Target) -> None:
    name = body.get("metadata", {}).get("name", "")
    if name != target.name:
        raise errors.bad_request(
            f"the name of the object ({name}) does not match the name on the URL ({target.name})"
        )


_PATCH_OPTIONS = options_kind("PatchOptions")
_DELETE_OPTIONS = options_kind("DeleteOptions")
