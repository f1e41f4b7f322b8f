"""The application: pages, files, the door for dropped files, and the guard before all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from fastapi import Request
from fastapi.responses import PlainTextResponse, Response
from jinja2 import FunctionLoader
from nicegui import Client, app, ui
from nicegui.client import templates

from anonymatch.base.errors import InputError
from anonymatch.reporting import STYLE, script
from anonymatch.reporting.charts import chart_script
from anonymatch.studio.frame import HEAD, PAGES, style
from anonymatch.studio.guard import NONCE, Guard
from anonymatch.studio.pages import attack, audit, compare, design, paper, plan, rounds, start
from anonymatch.studio.session import Studio

Show = Callable[[Studio, Mapping[str, str]], Awaitable[None]]

_FOR_A_WHILE = {"Cache-Control": "private, max-age=3600"}  # a megabyte, the same for all pages
_PATIENCE = 30.0  # seconds to build a page on a busy machine
_STATIC = Path(__file__).with_name("static")
_SHOW: Mapping[str, Show] = {
    "/": start.show,
    "/design": design.show,
    "/plan": plan.show,
    "/audit": audit.show,
    "/compare": compare.show,
    "/rounds": rounds.show,
    "/attack": attack.show,
    "/paper": paper.show,
}


def build(studio: Studio) -> None:
    """Register everything with NiceGUI's application."""
    rules = style(_STATIC.joinpath("studio.css").read_text("utf-8"))

    async def look() -> Response:
        return Response(rules, media_type="text/css", headers={"Cache-Control": "no-cache"})

    async def receive(
        page: str, request: Request, name: str = "", slot: str = "file", more: bool = False
    ) -> Response:
        return await _receive(studio, page, request, name, slot, more)

    async def sort() -> Response:
        return Response(script(), media_type="text/javascript")

    async def picture() -> Response:
        return Response(STYLE, media_type="text/css")

    async def charts() -> Response:
        text = await asyncio.to_thread(chart_script)  # made anew it takes seconds
        return Response(text, media_type="text/javascript", headers=_FOR_A_WHILE)

    app.add_api_route("/studio/look.css", look)
    app.add_api_route("/studio/picture.css", picture)
    app.add_api_route("/studio/table.js", sort)
    app.add_api_route("/studio/charts.js", charts)
    app.add_static_files("/studio", _STATIC)
    app.add_api_route("/upload/{page}", receive, methods=["POST"])
    ui.add_head_html(HEAD, shared=True)
    for route, name in PAGES.items():
        _register(studio, route, name)
    _mark_scripts()
    app.add_middleware(Guard, port=studio.port, token=studio.token)


def _mark_scripts() -> None:
    """Give the scripts of NiceGUI's template the word that the guard allows.

    It is put into the template and not into finished pages: a script that came with a name or a
    file would have none, and browsers refuse it.
    """
    loader = templates.env.loader
    assert loader is not None
    word = f'<script nonce="{{{{ request.scope["{NONCE}"] }}}}"'

    def load(name: str) -> str:
        return loader.get_source(templates.env, name)[0].replace("<script", word)

    templates.env.loader = FunctionLoader(load)


def _register(studio: Studio, route: str, name: str) -> None:
    async def opened(request: Request) -> None:
        await _SHOW[route](studio, request.query_params)

    title = f"{name}: anonymatch studio"
    ui.page(route, title=title, language="en-US", response_timeout=_PATIENCE)(opened)


async def _receive(
    studio: Studio, page: str, request: Request, name: str, slot: str, more: bool
) -> Response:
    """A dropped file, piece by piece, for the page that is open under that id."""
    client, inbox = Client.instances.get(page), studio.inboxes.get(page)
    if client is None or inbox is None:
        return PlainTextResponse("this page is closed; open the studio again", 410)
    if int(request.headers.get("content-length") or 0) > studio.store.limit:
        return PlainTextResponse(studio.store.refusal, 413)
    try:
        upload = await studio.store.receive(name, request.stream(), page)
    except InputError as error:
        return PlainTextResponse(str(error), 413 if str(error) == studio.store.refusal else 422)
    with client:
        await inbox(upload, slot, more)
    return Response(status_code=204)
