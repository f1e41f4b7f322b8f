"""Nobody but the reader's own browser talks to the studio, and it talks to nobody else."""

from __future__ import annotations

import socket

import httpx
import pytest
from starlette.datastructures import Headers
from tests.studio.conftest import Served

from anonymatch.studio.guard import refusal


@pytest.mark.parametrize("host", ["127.0.0.1:80", "LOCALHOST:80", "[::1]:80"])
def test_names_of_this_machine_are_answered(host: str) -> None:
    assert refusal("GET", Headers({"host": host}), 80) == ""
    assert refusal("POST", Headers({"host": host, "origin": f"http://{host.lower()}"}), 80) == ""


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"host": "127.0.0.1"},
        {"host": "127.0.0.1:81"},
        {"host": "evil.example:80"},
        {"host": "127.0.0.1.evil.example:80"},
        {"host": "127.0.0.1:80", "origin": "http://evil.example"},
        {"host": "127.0.0.1:80", "origin": "https://127.0.0.1:80"},
        {"host": "127.0.0.1:80", "origin": "http://localhost:80"},
        {"host": "127.0.0.1:80", "origin": "null"},
    ],
)
def test_everything_else_is_refused(headers: dict[str, str]) -> None:
    assert refusal("GET", Headers(headers), 80)


def test_changing_requests_must_say_where_they_come_from() -> None:
    assert refusal("POST", Headers({"host": "127.0.0.1:80"}), 80)
    assert refusal("WEBSOCKET", Headers({"host": "127.0.0.1:80"}), 80)


def test_two_hosts_are_none() -> None:
    raw = [(b"host", b"127.0.0.1:80"), (b"host", b"evil.example")]

    assert refusal("GET", Headers(raw=raw), 80)


@pytest.mark.parametrize("place", ["/", "/audit", "/studio/look.css", "/_nicegui_ws/socket.io/"])
def test_the_studio_refuses_a_foreign_host_and_origin(studio: Served, place: str) -> None:
    assert studio.get(place, host="evil.example").status_code == 403
    assert studio.get(place, origin="http://evil.example").status_code == 403


def test_a_foreign_page_sends_no_file(studio: Served) -> None:
    answer = httpx.post(
        f"{studio.address}/upload/page?name=a.csv",
        content=b"a",
        headers={"origin": "http://evil.example"},
    )

    assert answer.status_code == 403
    assert studio.files() == []


@pytest.mark.parametrize(("origin", "status"), [("http://evil.example", b"403"), ("", b"101")])
def test_websockets_are_guarded_too(studio: Served, origin: str, status: bytes) -> None:
    request = (
        "GET /_nicegui_ws/socket.io/?EIO=4&transport=websocket HTTP/1.1\r\n"
        f"Host: 127.0.0.1:{studio.port}\r\nOrigin: {origin or studio.address}\r\n"
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", studio.port), timeout=20) as line:
        line.sendall(request.encode())
        answer = line.recv(200)

    assert answer.split()[1] == status


def test_pages_may_load_from_the_studio_only(studio: Served) -> None:
    answer = studio.get("/")

    assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert "https://" not in answer.text


def test_only_this_machine_is_listened_to(studio: Served) -> None:
    with socket.socket() as other:  # the port is free on all other addresses of the machine
        other.bind(("127.0.0.2", studio.port))
