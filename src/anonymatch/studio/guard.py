"""Who may talk to the studio: the reader's own browser on this machine, and no other page in it.

A page from elsewhere can make a browser send requests to 127.0.0.1, under its own name if that
name is made to lead here (DNS rebinding). So the Host must be this machine's, and an Origin must be
the studio itself; WebSockets included, which browsers do not hold to one origin. What the studio
sends tells the browser to load nothing from anywhere else.
"""

from __future__ import annotations

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Guard", "refusal"]

_NAMES = ("127.0.0.1", "localhost", "[::1]")
_SAFE = ("GET", "HEAD")
_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; "
    "connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
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


class Guard:
    """Refuses requests and WebSockets that come from elsewhere, and limits what pages may load."""

    def __init__(self, app: ASGIApp, port: int) -> None:
        self._app, self._port = app, port

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        why = refusal(scope.get("method", "WEBSOCKET"), Headers(scope=scope), self._port)
        if not why:
            await self._app(scope, receive, _with_headers(send))
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": why})
        else:
            from starlette.responses import PlainTextResponse

            await PlainTextResponse(f"{why}\n", status_code=403)(scope, receive, send)


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers[name] = value
        await send(message)

    return sent
