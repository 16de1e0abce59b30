"""Encrypted connections: a host has to prove that it is the one that was asked for."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ragstone.errors import AccessError, ReadError
from ragstone.sources.web.addresses import Address
from ragstone.sources.web.client import NetworkPolicy
from ragstone.sources.web.fetch import FetchRules, safe_fetch
from tests.support.local_site import Request, Site, redirect, reply, serving

HERE = "docs.example"
pytestmark = pytest.mark.skipif(
    shutil.which("openssl") is None, reason="there is no openssl to make a certificate"
)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a certificate for `docs.example` that no authority signed, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    arguments = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
    ]
    about = [
        "-keyout",
        str(key),
        "-out",
        str(certificate),
        "-subj",
        f"/CN={HERE}",
        "-days",
        "2",
    ]
    subprocess.run(
        [*arguments, *about, "-addext", f"subjectAltName=DNS:{HERE}"],
        check=True,
        capture_output=True,
    )
    return certificate, key


@pytest.fixture
def site(certificate: tuple[Path, Path]) -> Iterator[Site]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    with serving(
        Site(wrap=lambda connection: context.wrap_socket(connection, server_side=True))
    ) as opened:
        opened.routes["/"] = reply("proved")
        yield opened


def rules(site: Site) -> FetchRules:
    """Return rules by which every host is found at the site, as if it were at a public address."""

    def dial(address: Address, port: int, seconds: float) -> socket.socket:
        return socket.create_connection((site.host, site.port), timeout=seconds)

    network = NetworkPolicy(resolve=lambda host, port: ["93.184.216.34"], connect=dial)
    return FetchRules(network, seconds=5)


@pytest.fixture
def trusted(certificate: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the system trust the certificate."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))


def test_an_untrusted_certificate_is_refused(site: Site) -> None:
    with pytest.raises(AccessError, match=f"does not prove that it is {HERE}"):
        safe_fetch(f"https://{HERE}/", rules(site))
    assert site.requests == []


def test_a_certificate_proves_the_name_it_names(site: Site, trusted: None) -> None:
    assert safe_fetch(f"https://{HERE}/", rules(site)).body == b"proved"


def test_a_certificate_of_another_name_proves_nothing(site: Site, trusted: None) -> None:
    for other in ("other.example", f"sub.{HERE}", "93.184.216.34"):
        with pytest.raises(AccessError, match="does not prove"):
            safe_fetch(f"https://{other}/", rules(site))
    assert site.requests == []


def test_encryption_is_not_given_up_on_the_way(site: Site, trusted: None) -> None:
    site.routes["/down"] = redirect("http://docs.example/")
    site.routes["/up"] = redirect("https://docs.example/")
    with pytest.raises(AccessError, match="without encryption"):
        safe_fetch(f"https://{HERE}/down", rules(site))
    assert safe_fetch(f"https://{HERE}/up", rules(site)).body == b"proved"


def test_a_server_without_tls_is_a_read_error() -> None:
    with serving(Site()) as plain, pytest.raises(ReadError, match="took too long"):
        safe_fetch(f"https://{HERE}/", replace(rules(plain), seconds=0.5))


def test_an_encrypted_body_that_is_cut_off_is_not_taken_for_the_whole(
    site: Site, trusted: None
) -> None:
    def cut(connection: socket.socket, request: Request) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nhalf a pa")
        socket.socket(fileno=connection.detach()).close()  # without TLS's own goodbye

    site.routes["/"] = cut
    with pytest.raises(ReadError, match="broke off"):
        safe_fetch(f"https://{HERE}/", rules(site))
