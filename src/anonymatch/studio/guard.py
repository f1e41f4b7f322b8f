"""Who may talk to the studio: the reader's own browser on this machine, and no other page in it.

A page from elsewhere can make a browser send requests to 127.0.0.1, under its own name if that
name is made to lead here (DNS rebinding). So the Host must be this machine's, and an Origin must be
the studio itself; WebSockets included, which browsers do not hold to one origin. What the studio
sends tells the browser to load nothing from anywhere else.

Other people who are logged in on this machine can reach the port too. So every request needs a
token. It is in the address that the studio prints, and the browser keeps it in a cookie.
"""

from __future__ import annotations

import secrets
from urllib.parse import parse_qsl, quote, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

NONCE = "anonymatch.nonce"
"""Where a request holds the word that marks the scripts of its page as the studio's own."""

_NAMES = ("127.0.0.1", "localhost", "[::1]")
_SAFE = ("GET", "HEAD")
_NO_TOKEN = (
    "this studio belongs to whoever started it; open the address that it printed, which ends in "
    "?token=..."
)
# NiceGUI evaluates what handlers and the server send (eval in its nicegui.js), so that must stay
# allowed. Scripts within a page are not, but for those of its template, by a word for each page.
_POLICY = (
    "default-src 'self'; script-src 'self' 'nonce-{nonce}' 'unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; "
    "connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def refusal(method: str, headers: Headers, port: int) -> str:
    """Why a request is refused; empty if it is not.

    Examples
    --------
    >>> refusal("GET", Headers({"host": "127.0.0.1:8080"}), 8080)
    ''
    >>> refusal("GET", Headers({"host": "evil.example:8080"}), 8080)
    'this studio answers on 127.0.0.1:8080 only'
    >>> origin = {"host": "localhost:8080", "origin": "http://evil.example"}
    >>> refusal("GET", Headers(origin), 8080)
    'this studio answers to its own pages only'
    """
    hosts = headers.getlist("host")
    if len(hosts) != 1 or hosts[0].lower() not in {f"{name}:{port}" for name in _NAMES}:
        return f"this studio answers on 127.0.0.1:{port} only"
    origins = headers.getlist("origin")
    if not origins and method in _SAFE:
        return ""
    if origins != [f"http://{hosts[0].lower()}"]:
        return "this studio answers to its own pages only"
    return ""


def cookie_name(port: int) -> str:
    """What the cookie with the token is called: cookies do not know ports, and studios differ.

    Examples
    --------
    >>> cookie_name(8080)
    'anonymatch-studio-8080'
    """
    return f"anonymatch-studio-{port}"


class Guard:
    """Refuses who is a stranger or comes from elsewhere, and limits what pages may load."""

    def __init__(self, app: ASGIApp, port: int, token: str) -> None:
        self._app, self._port, self._token = app, port, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        why = refusal(scope.get("method", "WEBSOCKET"), headers, self._port)
        if not why and scope.get("method") == "GET" and self._brings_token(scope):
            await self._enter(scope, receive, send)
            return
        why = why or ("" if self._knows(headers) else _NO_TOKEN)
        if not why:
            nonce = secrets.token_urlsafe(16)
            scope[NONCE] = nonce
            await self._app(scope, receive, _with_headers(send, nonce))
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": why})
        else:
            from starlette.responses import PlainTextResponse

            await PlainTextResponse(f"{why}\n", status_code=403)(scope, receive, send)

    def _knows(self, headers: Headers) -> bool:
        """Whether the token is in the cookie."""
        cookies = cookie_parser(headers.get("cookie", ""))
        return self._same(cookies.get(cookie_name(self._port), ""))

    def _brings_token(self, scope: Scope) -> bool:
        """Whether the token is in the address."""
        return any(name == "token" and self._same(value) for name, value in _query(scope))

    def _same(self, given: str) -> bool:
        return secrets.compare_digest(given.encode(), self._token.encode())

    async def _enter(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand over the cookie, and go on to the same address without the token."""
        from starlette.responses import RedirectResponse

        rest = urlencode([pair for pair in _query(scope) if pair[0] != "token"])
        path = "/" + quote(scope["path"].lstrip("/"))  # two slashes would lead to another machine
        answer = RedirectResponse(f"{path}?{rest}" if rest else path, status_code=303)
        answer.set_cookie(cookie_name(self._port), self._token, httponly=True, samesite="lax")
        answer.headers.update(_HEADERS)
        await answer(scope, receive, send)


def _query(scope: Scope) -> list[tuple[str, str]]:
    return parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)


def _with_headers(send: Send, nonce: str) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers["Content-Security-Policy"] = _POLICY.format(nonce=nonce)
            for name, value in _HEADERS.items():
                headers[name] = value
        await send(message)

    return sent
