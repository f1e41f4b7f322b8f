"""Nobody but the reader's own browser talks to the studio, and it talks to nobody else."""

from __future__ import annotations

import asyncio
import re
import socket

import pytest
from starlette.datastructures import Headers
from starlette.types import Message
from tests.patience import PATIENCE
from tests.studio.conftest import Served

from anonymatch.studio.guard import Guard, refusal


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


@pytest.mark.parametrize("route", ["/", "/audit", "/studio/look.css", "/_nicegui_ws/socket.io/"])
def test_the_studio_refuses_a_foreign_host_and_origin(studio: Served, route: str) -> None:
    assert studio.get(route, host="evil.example").status_code == 403
    assert studio.get(route, origin="http://evil.example").status_code == 403


def test_a_foreign_page_sends_no_file(studio: Served) -> None:
    before = set(studio.files())  # pages of other tests are removed some seconds after these end

    answer = studio.post("/upload/page?name=a.csv", b"a", origin="http://evil.example")

    assert answer.status_code == 403
    assert set(studio.files()) <= before


def test_what_is_refused_is_neither_read_nor_handed_on() -> None:
    requests: list[object] = []

    async def app(*_: object) -> None:
        requests.append("app")

    async def receive() -> Message:
        requests.append("body")
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        requests.append(message.get("status"))

    for headers in (
        [(b"host", b"127.0.0.1:80"), (b"origin", b"http://evil.example")],
        [(b"host", b"127.0.0.1:80"), (b"origin", b"http://127.0.0.1:80")],
    ):
        scope = {"type": "http", "method": "POST", "headers": headers, "query_string": b""}
        asyncio.run(Guard(app, 80, "token")(scope, receive, send))

    assert requests == [403, None, 403, None]


@pytest.mark.parametrize("route", ["/", "/audit", "/studio/look.css", "/_nicegui_ws/socket.io/"])
@pytest.mark.parametrize("cookie", ["", "anonymatch-studio-{port}=guess", "token={token}"])
def test_nobody_enters_without_the_token(studio: Served, route: str, cookie: str) -> None:
    cookie = cookie.format(port=studio.port, token=studio.token)
    answer = studio.get(route, cookie=cookie)

    assert answer.status_code == 403
    assert "open the address that it printed" in answer.text
    assert studio.token not in answer.text


def test_a_wrong_token_is_no_token(studio: Served) -> None:
    for given in ("", "x", studio.token[:-1], f"{studio.token}x", "%C3%A9"):
        answer = studio.get(f"/?token={given}", cookie="")

        assert answer.status_code == 403
        assert "set-cookie" not in answer.headers


def test_the_printed_address_hands_over_a_cookie_and_goes_on_without_the_token(
    studio: Served,
) -> None:
    answer = studio.get(f"/audit?example=mix.csv&token={studio.token}", cookie="")

    assert answer.status_code == 303
    assert answer.headers["location"] == "/audit?example=mix.csv"
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"{studio.cookie};")
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert studio.get("/audit", cookie=cookie.partition(";")[0]).status_code == 200


def test_the_token_leads_to_no_other_machine(studio: Served) -> None:
    answer = studio.get(f"//evil.example/?token={studio.token}")

    assert answer.headers["location"] == "/evil.example/"


def test_a_file_needs_the_token_too(studio: Served) -> None:
    before = set(studio.files())

    answer = studio.post("/upload/page?name=a.csv", b"a", origin=studio.address, cookie="")

    assert answer.status_code == 403
    assert set(studio.files()) <= before


@pytest.mark.parametrize(
    ("origin", "token", "status"),
    [("http://evil.example", True, b"403"), ("", False, b"403"), ("", True, b"101")],
)
def test_websockets_are_guarded_too(
    studio: Served, origin: str, token: bool, status: bytes
) -> None:
    request = (
        "GET /_nicegui_ws/socket.io/?EIO=4&transport=websocket HTTP/1.1\r\n"
        f"Host: 127.0.0.1:{studio.port}\r\nOrigin: {origin or studio.address}\r\n"
        f"Cookie: {studio.cookie if token else 'a=b'}\r\n"
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", studio.port), timeout=PATIENCE) as line:
        line.sendall(request.encode())
        answer = line.recv(200)

    assert answer.split()[1] == status


def test_pages_may_load_from_the_studio_only(studio: Served) -> None:
    answer = studio.get("/")

    assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert "https://" not in answer.text


def test_no_script_within_a_page_runs_but_those_of_its_template(studio: Served) -> None:
    answers = [studio.get("/") for _ in range(2)]
    policies = [answer.headers["content-security-policy"] for answer in answers]
    words = [re.findall(r"'nonce-([\w-]+)'", policy) for policy in policies]

    assert "script-src 'self' 'nonce-" in policies[0]
    assert "'unsafe-inline'" not in policies[0].partition("style-src")[0]
    assert len({*words[0], *words[1]}) == 2  # each page has its own
    for answer, (word,) in zip(answers, words, strict=True):
        scripts = re.findall(r"<script[^>]*>", answer.text)
        assert all(f'nonce="{word}"' in script or "src=" in script for script in scripts)


def test_only_this_machine_is_listened_to(studio: Served) -> None:
    with socket.socket() as other:  # the port is free on all other addresses of the machine
        other.bind(("127.0.0.2", studio.port))
