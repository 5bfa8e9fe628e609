"""What the walks create: Deployments, Jobs and Services as small as they can be."""

from __future__ import annotations

from tests.recordings.client import Obj


def container(image: str, *args: str, **more: object) -> Obj:
    """A container as the product makes it: output of a crash ends in its status."""
    words = {"args": list(args)} if args else {}
    return {
        "name": "web",
        "image": image,
        "terminationMessagePolicy": "FallbackToLogsOnError",
        **words,
        **more,
    }


def variables(**values: object) -> list[Obj]:
    return [{"name": name, "value": str(value)} for name, value in values.items()]


def http_probe() -> Obj:
    return {
        "httpGet": {"path": "/", "port": "main"},
        "periodSeconds": 2,
        "timeoutSeconds": 5,
    }


def served(image: str, **more: object) -> Obj:
    ports = [{"name": "main", "containerPort": 8080}]
    return container(image, "serve", ports=ports, readinessProbe=http_probe(), **more)


def deployment(name: str, replicas: int, box: Obj, **pod: object) -> Obj:
    labels = {"app": name}
    spec = {"containers": [box], "terminationGracePeriodSeconds": 10, **pod}
    template = {"metadata": {"labels": labels}, "spec": spec}
    wanted = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": wanted,
    }


def service(name: str, selects: str) -> Obj:
    ports = [{"name": "main", "port": 80, "targetPort": "main"}]
    return {"metadata": {"name": name}, "spec": {"selector": {"app": selects}, "ports": ports}}


def job(name: str, box: Obj, **spec: object) -> Obj:
    pod = {"containers": [box], "restartPolicy": "Never", "terminationGracePeriodSeconds": 3}
    wanted = {"backoffLimit": 0, "template": {"spec": pod}, **spec}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": wanted}
