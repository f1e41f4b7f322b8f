"""serve(): the studio on one port of this machine, until it is stopped."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import tempfile
import webbrowser
from pathlib import Path

from anonymatch.base.errors import InputError
from anonymatch.studio.tuning import TUNING
from anonymatch.studio.uploads import Store
from anonymatch_start import AT_THE_END

HOST = "127.0.0.1"
_MISSING = "the studio needs NiceGUI; install it with: pip install 'anonymatch[studio]'"


def check_installed() -> None:
    """Refuse to start without NiceGUI, and say how to get it."""
    from importlib.util import find_spec

    if find_spec("nicegui") is None:
        raise InputError(_MISSING)


def check_port(port: int) -> None:
    """Refuse a port that is taken."""
    with socket.socket() as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((HOST, port))
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise InputError(
                f"port {port} cannot be used: {reason}; choose another with --port"
            ) from None


def serve(port: int = 8080, *, upload_limit: float = 200.0, show: bool = True) -> None:
    """Open the studio at 127.0.0.1 and keep it open until Ctrl-C.

    Parameters
    ----------
    port : int
    upload_limit : float
        Megabytes that a dropped file may have.
    show : bool
        Whether to open a browser.
    """
    check_installed()
    check_port(port)
    # NiceGUI would keep a folder for its own storage where it was started; it is not used.
    os.environ.setdefault(
        "NICEGUI_STORAGE_PATH", str(Path(tempfile.gettempdir(), "anonymatch-studio-unused"))
    )
    import polars  # noqa: F401  (files need it; imported now, no work has to be waited for in it)
    from nicegui import app, ui

    from anonymatch.studio.app import build
    from anonymatch.studio.background import noting
    from anonymatch.studio.frame import ICON
    from anonymatch.studio.session import Studio

    store = Store(upload_limit)
    AT_THE_END.append(store.close)  # the server passes Ctrl-C on, and nothing is unwound then
    token = secrets.token_urlsafe(24)
    build(Studio(port, token, store))
    address = f"http://{HOST}:{port}/?token={token}"
    app.on_startup(lambda: _announce(address, _opening_page(address, store.folder) if show else ""))
    try:
        with noting():
            ui.run(
                host=HOST,
                port=port,
                title="anonymatch studio",
                favicon=ICON,
                dark=None,
                show=False,  # the browser is opened with the token, as soon as the studio answers
                reload=False,
                tailwind=False,
                show_welcome_message=False,
                reconnect_timeout=TUNING.reconnect,
                binding_refresh_interval=None,
                uvicorn_logging_level="warning",
            )
    finally:
        store.close()


def _opening_page(address: str, folder: Path) -> str:
    """A page in a private folder that leads to the address: commands are seen by everybody here."""
    path = folder / "open.html"
    path.write_text(
        f'<!doctype html><meta http-equiv="refresh" content="0;url={address}">'
        f'<a href="{address}">anonymatch studio</a>\n'
    )
    return path.as_uri()


def _announce(address: str, page: str) -> None:
    """Say the address as soon as it answers, and open a page in the browser if there is one."""
    from nicegui import background_tasks
    from nicegui.server import Server

    async def say() -> None:
        while not Server.instance.started:
            await asyncio.sleep(TUNING.start_glance)
        print(f"studio: {address} (stop with Ctrl-C)", flush=True)
        if page:
            await asyncio.to_thread(webbrowser.open, page)

    background_tasks.create(say(), name="studio address")
