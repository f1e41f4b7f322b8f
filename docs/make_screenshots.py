"""Take the pictures of the studio for the documentation: docs/studio-*.png.

python docs/make_screenshots.py [NAME ...] starts a studio, opens its pages in Chromium, light and
dark, as wide as a laptop and as a phone, and ends it again. Needs the group ``test`` and Chromium.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

import anonymatch as am

HERE = Path(__file__).parent
DROPPED = {
    "look-light": ["exponential:2"],
    "compare-light": ["exponential:2", "erlang:3,0.5"],
}
"""Logs that are made up and dropped on a page, by their laws."""
TABLES = {
    "people.csv": "person,age,zip\nann,23,1010\nbob,27,1010\ncem,24,1020\ndan,31,1020\n"
    "eve,36,1030\n",
    "released.csv": "age,zip,illness\n20-29,101*,flu\n20-29,101*,flu\n20-29,10**,asthma\n"
    "30-39,10**,cold\n30-39,10**,hiv\n",
}
"""The release of docs/tables.md, and its original."""
RESTS = 4  # looks at a page that must all find it at rest
LARGEST = 150_000  # bytes of a picture
SHOTS = {
    "start-light": ("/?user=Alice", "light", 1280, 900),
    "design-light": ("/design?users=8&edges=24", "light", 1280, 1150),
    "plan-light": ("/plan?cover=1&law=pool:1,2", "light", 1120, 900),
    "look-light": ("/audit?step=look", "light", 1180, 1180),
    "audit-dark": (
        "/audit?example=mix_log.csv&law=window:1,6&thresholds=entropy%3D0.5,surest%3D0.5",
        "dark",
        1180,
        1130,
    ),
    "release-light": ("/audit?budget=30", "light", 1100, 1320),
    "compare-light": ("/compare?systems=", "light", 1180, 1250),
    "rounds-light": ("/rounds?users=12&friends=2&batch=4&rounds=60&seen=10", "light", 1100, 840),
    "attack-dark": ("/attack?graph=best&targets=Alice,Eve", "dark", 1280, 1150),
    "paper-light": ("/paper?claim=figure-7", "light", 1280, 780),
    "start-phone": ("/?user=Alice", "dark", 390, 1000),
    "design-phone": ("/design?users=8&edges=24", "light", 390, 1000),
}


def logs(laws: list[str]) -> list[str]:
    """Files of logs with these laws."""
    folder = Path(tempfile.mkdtemp())
    paths = []
    for law in laws:
        path = folder / f"{law.partition(':')[0]}.csv"
        log = am.mixes.synthesize(law, messages=600, rate=5.0, seed=1)
        am.mixes.write_messages(log, path)
        paths.append(str(path))
    return paths


def tables() -> list[str]:
    """Files of a release and its original."""
    folder = Path(tempfile.mkdtemp())
    for name, content in TABLES.items():
        (folder / name).write_text(content)
    return [str(folder / name) for name in TABLES]


def take(browser: Browser, address: str, token: str, name: str) -> None:
    """One picture, once the page has everything."""
    place, scheme, width, height = SHOTS[name]
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    page = context.new_page()
    page.goto(f"{address}{place}&token={token}")
    page.locator("h1").wait_for()
    if name in DROPPED:
        page.set_input_files("input[type=file] >> nth=0", logs(DROPPED[name]))
    if name.startswith("release"):
        page.set_input_files("input[type=file] >> nth=0", tables())
    for _ in range(RESTS):  # one piece of work may follow another
        page.wait_for_timeout(2000)
        page.wait_for_function("!document.querySelector('[aria-busy=true]')", timeout=120_000)
    if name.startswith("paper"):
        page.evaluate("document.querySelector('.claims-view').scrollIntoView()")
    page.wait_for_timeout(1000)
    target = HERE / f"studio-{name}.png"
    page.screenshot(path=target)
    context.close()
    size = target.stat().st_size
    if size > LARGEST:
        sys.exit(f"{target} has {size} bytes; make it smaller")
    print(f"{target}: {size} bytes")


def main() -> None:
    """All pictures."""
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        port = trial.getsockname()[1]
    command = [str(Path(sys.executable).with_name("anonymatch")), "studio", "--no-browser"]
    with subprocess.Popen(
        [*command, "--port", str(port)], stdout=subprocess.PIPE, text=True
    ) as served:
        assert served.stdout is not None
        line = served.stdout.readline()  # it says its address once it answers
        token = line.partition("token=")[2].split()[0]
        try:
            with sync_playwright() as driver:
                browser = driver.chromium.launch(executable_path=shutil.which("chromium"))
                for name in sys.argv[1:] or SHOTS:
                    take(browser, f"http://127.0.0.1:{port}", token, name)
                browser.close()
        finally:
            served.terminate()


if __name__ == "__main__":
    main()
