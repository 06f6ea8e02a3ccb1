"""Take the pictures of pages that the docs show: the report, the web app and the learner portal.

    python scripts/take_pictures.py [--folder docs/pictures]

Runs the demo twice in a temporary folder, writes its report, serves the store on a free port, and
photographs the pages with the Chromium of this system. Needs the development requirements.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parent.parent
DESK, PHONE = (1120, 700), (390, 700)


def run_markscheme(folder: Path, *words: str) -> None:
    """Run a command in a folder; its exit code is its verdict, so any is accepted."""
    subprocess.run(  # noqa: S603 - ours
        [sys.executable, "-m", "markscheme", *words], cwd=folder, check=False, capture_output=True
    )


@contextmanager
def serve_store(folder: Path) -> Iterator[dict[str, str]]:
    """Serve the store of a folder; give the address and the link of the server."""
    command = [sys.executable, "-m", "markscheme", "serve", "--port", "0", "--no-open"]
    process = subprocess.Popen(  # noqa: S603 - ours
        [*command, "--format", "json"], cwd=folder, stdout=subprocess.PIPE, text=True
    )
    try:
        lines = process.stdout or ()
        stated = "".join(takewhile(lambda line: line.strip() != "}", lines))
        yield json.loads(stated + "}")
    finally:
        process.terminate()
        process.wait()


def take_picture(page: Page, path: Path, size: tuple[int, int]) -> None:
    """Photograph what stands on the first screen of a page."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.wait_for_load_state("networkidle")
    page.screenshot(path=path)
    print(path.name, path.stat().st_size)


def main() -> None:
    """Make the store, serve it, and take every picture."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--folder", type=Path, default=ROOT / "docs" / "pictures")
    target = parser.parse_args().folder
    target.mkdir(parents=True, exist_ok=True)
    os.environ.pop("MARKSCHEME_STORE", None)
    chromium = shutil.which("chromium")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        run_markscheme(folder, "demo")
        run_markscheme(folder, "baseline", "set", "latest", "--note", "release 1.4")
        run_markscheme(folder, "demo", "--flawed")
        run_markscheme(folder, "report", "latest", "-o", "report.html")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto((folder / "report.html").as_uri())
        take_picture(page, target / "report.png", DESK)
        page.emulate_media(color_scheme="dark")
        take_picture(page, target / "report-phone-dark.png", PHONE)
        page.emulate_media(color_scheme="light")
        with serve_store(folder) as server:
            page.goto(server["link"])
            page.click("main button")
            take_picture(page, target / "dashboard.png", DESK)
            page.goto(server["url"] + "/learn/card")
            take_picture(page, target / "card-phone.png", PHONE)
        browser.close()


if __name__ == "__main__":
    main()
