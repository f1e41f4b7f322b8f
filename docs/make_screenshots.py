"""Take the pictures of the studio for the documentation: docs/studio-*.png.

python docs/make_screenshots.py starts a studio, opens its pages in Chromium, light and dark, as
wide as a laptop and as a phone, and ends it again. Needs the group ``test`` and Chromium.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

HERE = Path(__file__).parent
LARGEST = 150_000  # bytes of a picture
SHOTS = {
    "start-light": ("/?user=Alice", "light", 1280, 900),
    "design-light": ("/design?users=8&edges=24", "light", 1280, 1250),
    "plan-light": ("/plan?cover=1&law=pool:1,2", "light", 1120, 900),
    "audit-dark": ("/audit?example=mix_log.csv&law=window:1,6&user=cem", "dark", 1280, 1000),
    "rounds-light": ("/rounds?users=12&friends=2&batch=4&rounds=60&seen=10", "light", 1100, 840),
    "attack-dark": ("/attack?graph=best&targets=Alice,Eve", "dark", 1280, 1150),
    "paper-light": ("/paper?claim=figure-7", "light", 1280, 820),
    "start-phone": ("/?user=Alice", "dark", 390, 1000),
    "design-phone": ("/design?users=8&edges=24", "light", 390, 1000),
}


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
    page.wait_for_timeout(1000)  # until long work has begun
    page.wait_for_function("!document.querySelector('[aria-busy=true]')", timeout=120_000)
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
                for name in SHOTS:
                    take(browser, f"http://127.0.0.1:{port}", token, name)
                browser.close()
        finally:
            served.terminate()


if __name__ == "__main__":
    main()
