"""The command that opens the studio."""

from __future__ import annotations

from typing import Annotated

import typer

from anonymatch.cli.app import app
from anonymatch.cli.options import Options, command, option, whole

__all__: list[str] = []


def _megabytes(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number") from None
    if not 0 < value <= 1e6:
        raise typer.BadParameter(f"{text} is out of range; give megabytes above 0")
    return value


@command(app, acts=())
def studio(
    *,
    port: Annotated[
        int,
        option("--port", "Of 127.0.0.1 (8080 unless told).", metavar="P", parser=whole(1, 65535)),
    ] = 8080,
    upload_limit: Annotated[
        float,
        option(
            "--upload-limit",
            "Largest file that may be dropped on a page (200 unless told).",
            metavar="MB",
            parser=_megabytes,
        ),
    ] = 200.0,
    no_browser: Annotated[
        bool, option("--no-browser", "Print the address and open no browser.")
    ] = False,
    options: Options,
) -> None:
    """Open the studio: the same answers in a browser. On this machine only."""
    from anonymatch.studio.server import serve

    options.limit_readers()
    serve(port, upload_limit=upload_limit, show=not no_browser)
