"""Certificates of a kubeconfig: read once, and refused with a sentence where they are none."""

from __future__ import annotations

import base64
import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from deployments.agent.cluster import Unreachable
from deployments.agent.connect import connect
from deployments.agent.kube import KubeApi
from deployments.agent.kubeconfig import NotUsable

TODAY = datetime(2026, 1, 1, tzinfo=UTC)
YEARS = timedelta(days=36500)


def pair(valid_for: timedelta = YEARS) -> tuple[bytes, bytes]:
    """Return a certificate that vouches for itself and for 127.0.0.1, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(TODAY - timedelta(days=9000))
        .not_valid_after(TODAY - timedelta(days=9000) + valid_for)
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    secret = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return certificate.public_bytes(pem), secret


class _Yes(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *args: object) -> None:
        """Say nothing."""


class TlsServer(HTTPServer):
    """A server whose clients have to show a certificate of the same authority."""

    certificate: bytes
    key: bytes

    def handle_error(self, *args: object) -> None:
        """A client that goes away is what these tests are about."""


def serve(folder: Path, certificate: bytes, key: bytes) -> TlsServer:
    for name, content in (("crt", certificate), ("key", key)):
        (folder / name).write_bytes(content)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "crt", folder / "key")
    context.load_verify_locations(folder / "crt")
    context.verify_mode = ssl.CERT_REQUIRED
    http = TlsServer(("127.0.0.1", 0), _Yes)
    http.socket = context.wrap_socket(http.socket, server_side=True)
    http.certificate, http.key = certificate, key
    threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True).start()
    return http


@pytest.fixture
def tls(tmp_path: Path) -> Iterator[TlsServer]:
    http = serve(tmp_path, *pair())
    yield http
    http.shutdown()
    http.server_close()


def config(http: TlsServer, authority: bytes, user: dict[str, Any]) -> dict[str, Any]:
    cluster = {
        "server": f"https://127.0.0.1:{http.server_port}",
        "certificate-authority-data": base64.b64encode(authority).decode(),
    }
    return {
        "current-context": "x",
        "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
        "clusters": [{"name": "x", "cluster": cluster}],
        "users": [{"name": "x", "user": user}],
    }


def client(certificate: bytes, key: bytes) -> dict[str, str]:
    return {
        "client-certificate-data": base64.b64encode(certificate).decode(),
        "client-key-data": base64.b64encode(key).decode(),
    }


def test_a_client_certificate_is_shown(tls: TlsServer) -> None:
    api = KubeApi(config(tls, tls.certificate, client(tls.certificate, tls.key)))

    assert api.read(("version",)) == {}


def test_a_server_that_our_authority_does_not_vouch_for_is_not_spoken_to(tls: TlsServer) -> None:
    another, _ = pair()

    with pytest.raises(Unreachable, match=r"^certificate: "):
        KubeApi(config(tls, another, {"token": "t0ken"})).read(("version",))


def test_an_expired_certificate_is_named(tmp_path: Path) -> None:
    certificate, key = pair(valid_for=timedelta(days=1))
    http = serve(tmp_path, certificate, key)

    with pytest.raises(Unreachable, match="certificate has expired"):
        KubeApi(config(http, certificate, {"token": "t0ken"})).read(("version",))

    http.shutdown()
    http.server_close()


@pytest.mark.parametrize("garbage", [b"no certificate", b""])
def test_a_certificate_that_is_none_is_refused(
    tls: TlsServer, tmp_path: Path, garbage: bytes
) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump(config(tls, tls.certificate, client(garbage, garbage + b"?"))))

    with pytest.raises(NotUsable, match="certificate"):
        connect(path, None)
