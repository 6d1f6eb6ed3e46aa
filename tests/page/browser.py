"""A real browser: the distribution's Chromium, driven by Playwright; and what it must never do."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
SCREENSHOTS = os.environ.get("SLAQ_SCREENSHOTS", "")
"""Folder that keeps the screenshots; empty: the test's own."""


@contextmanager
def launched() -> Iterator[object]:
    """The browser; without one the tests say what to install: they are skipped, and fail in CI."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs `pip install playwright`")
    if CHROMIUM is None:
        refuse = pytest.fail if "CI" in os.environ else pytest.skip
        refuse("no browser here: `apt-get install chromium` installs one")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield browser
        browser.close()


class Watched:
    """A browser page that notes what goes wrong in it and where its requests go."""

    def __init__(self, browser, origin: str, **options) -> None:
        self.origin = origin
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(15_000)
        self.wrong: list[str] = []
        self.requests: list[str] = []
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("console", lambda said: self._said(said))
        self.page.on("dialog", lambda dialog: self.wrong.append(f"dialog {dialog.message}") or dialog.dismiss())
        self.context.on("request", lambda request: self.requests.append(request.url))

    def _said(self, said) -> None:
        expected = "Failed to load resource" in said.text and "40" in said.text  # refusals that a test asks for
        if said.type in ("error", "warning") and not expected:
            self.wrong.append(said.text)

    def open(self, hash_: str = "") -> None:
        self.page.goto(f"{self.origin}/{f'ui/{hash_}' if hash_ else ''}")

    def close(self) -> None:
        """No error, no violation of the policy, and no request to anywhere else."""
        self.context.close()
        assert self.wrong == [], self.wrong
        assert [url for url in self.requests if not url.startswith(self.origin + "/")] == []


def keep(page, folder: Path, name: str) -> None:
    """Keep a screenshot."""
    place = Path(SCREENSHOTS) if SCREENSHOTS else folder
    place.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=place / f"{name}.png", full_page=True)
