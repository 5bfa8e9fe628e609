"""Who may do what, discovery, logs, the proxy to pods, and the request log."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from pathlib import Path

import pytest

from deployments.practice.access import Denial
from deployments.practice.api import Answer
from tests.practice.http_client import TOKEN, Cluster, config_map, pod, running, service

MAPS = "/api/v1/namespaces/shop/configmaps"
PODS = "/api/v1/namespaces/shop/pods"
SERVICES = "/api/v1/namespaces/shop/services"
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
LIMITED, NOBODY = "limited", "nobody"
DENIED = (Denial("patch", "configmaps"), Denial("get", "pods/log"), Denial("list", "nodes"))


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with running(tmp_path, denied=DENIED) as found:
        yield found


def test_an_unknown_token_is_unauthorized(cluster: Cluster) -> None:
    answer = cluster.call("GET", MAPS, token=NOBODY)

    assert (answer.code, answer.body["reason"]) == (401, "Unauthorized")


def test_a_denied_verb_is_named_with_user_resource_and_namespace(cluster: Cluster) -> None:
    cluster.post(MAPS, config_map("a"))

    answer = cluster.call(
        "PATCH", f"{MAPS}/a", {}, media_type="application/merge-patch+json", token=LIMITED
    )

    assert (answer.code, answer.body["reason"]) == (403, "Forbidden")
    assert answer.message == (
        'configmaps "a" is forbidden: User "limited" cannot patch resource "configmaps" '
        'in API group "" in the namespace "shop"'
    )


def test_a_denied_list_of_the_cluster_says_its_scope(cluster: Cluster) -> None:
    answer = cluster.call("GET", "/api/v1/nodes", token=LIMITED)

    assert answer.message == (
        'nodes is forbidden: User "limited" cannot list resource "nodes" '
        'in API group "" at the cluster scope'
    )


@pytest.mark.parametrize(
    ("token", "attributes", "allowed"),
    [
        (LIMITED, {"verb": "patch", "resource": "configmaps", "namespace": "shop"}, False),
        (LIMITED, {"verb": "get", "resource": "configmaps", "namespace": "shop"}, True),
        (LIMITED, {"verb": "get", "resource": "pods", "subresource": "log"}, False),
        (TOKEN, {"verb": "patch", "resource": "configmaps", "namespace": "shop"}, True),
    ],
)
def test_a_review_tells_what_the_asking_user_may_do(
    cluster: Cluster, token: str, attributes: dict[str, str], *, allowed: bool
) -> None:
    body = {"spec": {"resourceAttributes": attributes}}

    answer = cluster.call("POST", REVIEWS, body, token=token)

    assert answer.code == 201
    assert answer.body["status"]["allowed"] is allowed


def test_discovery_names_what_is_served(cluster: Cluster) -> None:
    resources = cluster.get("/apis/apps/v1").body["resources"]
    groups = [group["name"] for group in cluster.get("/apis").body["groups"]]

    assert {"deployments", "deployments/scale"} <= {found["name"] for found in resources}
    assert {"apps", "batch", "discovery.k8s.io", "authorization.k8s.io"} <= set(groups)
    assert cluster.get("/version").body["gitVersion"] == "v1.34.4"
    assert cluster.get("/version/").body == cluster.get("/version").body
    assert cluster.get("/readyz").body == "ok"


def test_paths_of_nothing_are_told_apart(cluster: Cluster) -> None:
    no_group = cluster.get("/apis/example.org/v1/things")
    no_resource = cluster.get("/apis/apps/v1/things")

    assert (no_group.code, no_group.body) == (404, "404 page not found\n")
    assert no_resource.message == "the server could not find the requested resource"


def test_a_method_that_a_resource_does_not_have_is_refused(cluster: Cluster) -> None:
    assert cluster.call("PUT", MAPS, {}).code == 405


def test_a_log_can_be_cut(cluster: Cluster) -> None:
    cluster.store.create("pods", pod())

    assert cluster.get(f"{PODS}/web-1/log").body == "one\ntwo\nthree\n"
    assert cluster.get(f"{PODS}/web-1/log?tailLines=1").body == "three\n"
    assert cluster.get(f"{PODS}/web-1/log?limitBytes=5").body == "one\nt"
    assert cluster.get(f"{PODS}/web-1/log?previous=true").body.startswith("previous")


def test_a_log_of_no_container_in_particular_names_the_choice(cluster: Cluster) -> None:
    two = pod()
    two["spec"]["containers"].append({"name": "side", "image": "x"})
    cluster.store.create("pods", two)

    which = cluster.get(f"{PODS}/web-1/log")
    wrong = cluster.get(f"{PODS}/web-1/log?container=none")

    assert which.message == (
        "a container name must be specified for pod web-1, choose one of: [web side]"
    )
    assert wrong.message == "container none is not valid for pod web-1"


def serving(cluster: Cluster, *, ready: bool = True) -> None:
    """Store a service with one pod behind it, as the controllers would."""
    made = cluster.store.create("pods", pod())
    made["status"]["podIP"] = "10.244.0.7"
    cluster.store.update("pods", made, subresource="status")
    cluster.store.create("services", service())
    reference = {"kind": "Pod", "name": "web-1", "namespace": "shop"}
    addresses = [{"ip": "10.244.0.7", "targetRef": reference}]
    subset = {"addresses": addresses, "ports": [{"name": "http", "port": 8080}]}
    endpoints = {"metadata": {"name": "web", "namespace": "shop"}}
    cluster.store.create("endpoints", {**endpoints, "subsets": [subset] if ready else []})


def test_the_proxy_asks_a_ready_pod_and_passes_its_answer_on(cluster: Cluster) -> None:
    serving(cluster)
    cluster.world.answered = Answer(418, {"X-From": "pod"}, b"short and stout")

    answer = cluster.get(f"{SERVICES}/http:web:80/proxy/a/b?c=d")

    assert (answer.code, answer.body) == (418, "short and stout")
    assert answer.headers["X-From"] == "pod"
    assert cluster.world.asked == [("web-1", 8080, "GET", "/a/b?c=d")]


@pytest.mark.parametrize("name", ["web:http", "http:web:http", "web:80"])
def test_a_services_port_is_named_by_number_or_name(cluster: Cluster, name: str) -> None:
    serving(cluster)
    cluster.world.answered = Answer(200)

    assert cluster.get(f"{SERVICES}/{name}/proxy/").code == 200


def test_a_pod_that_refuses_is_told_from_one_that_is_not_there(cluster: Cluster) -> None:
    serving(cluster)

    refused = cluster.get(f"{SERVICES}/http:web:80/proxy/")
    no_port = cluster.get(f"{SERVICES}/http:web:81/proxy/")
    missing = cluster.get(f"{SERVICES}/http:none:80/proxy/")

    assert (refused.code, refused.body["reason"]) == (503, "ServiceUnavailable")
    assert refused.message == (
        "error trying to reach service: dial tcp 10.244.0.7:8080: connect: refused"
    )
    assert no_port.message == 'no service port 81 found for service "web"'
    assert (missing.code, missing.message) == (404, 'services "none" not found')


def test_nothing_ready_is_said_as_such(cluster: Cluster) -> None:
    serving(cluster, ready=False)

    answer = cluster.get(f"{SERVICES}/http:web:80/proxy/")

    assert (answer.code, answer.message) == (503, 'no endpoints available for service "web"')


def test_a_pod_is_asked_directly(cluster: Cluster) -> None:
    serving(cluster)
    cluster.world.answered = Answer(200, {}, b"hello")

    assert cluster.get(f"{PODS}/web-1:8080/proxy/").body == "hello"


def test_every_request_is_a_line_of_the_log(cluster: Cluster, tmp_path: Path) -> None:
    cluster.get(f"{MAPS}/none?x=1")

    last = (tmp_path / "requests.log").read_text().splitlines()[-1]

    assert last.split(" ", 1)[1] == f"GET {MAPS}/none?x=1 404 tests/1"


def test_many_requests_share_one_connection(cluster: Cluster) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", cluster.server.port, timeout=5)
    headers = {"Authorization": f"Bearer {TOKEN}"}

    codes = []
    for _ in range(3):
        connection.request("GET", MAPS, headers=headers)
        response = connection.getresponse()
        response.read()
        codes.append(response.status)
    connection.close()

    assert codes == [200, 200, 200]
