"""Opens a report from its file, once with scripts and once without, and prints what was seen as JSON.

Arguments: the browser's path, the report.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from lab import CHROMIUM_FLAGS
from offline import is_isolated
from playwright.sync_api import sync_playwright
from watch import Watch


def main(browser: str, report: Path) -> None:
    isolated = is_isolated()
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=CHROMIUM_FLAGS)
        seen = {name: look(chromium, report, scripts=scripts) for name, scripts in (("full", True), ("plain", False))}
        chromium.close()
    print(json.dumps({"isolated": isolated, **seen}))


def look(chromium: Any, report: Path, *, scripts: bool) -> dict[str, Any]:
    """What a reader finds."""
    context = chromium.new_context(java_script_enabled=scripts, viewport={"width": 1280, "height": 900}, offline=True)
    page = context.new_page()
    watch = Watch(page, report.as_uri())
    page.goto(report.as_uri())
    if scripts:
        page.locator("svg.marks").first.wait_for(timeout=30_000)
        page.wait_for_timeout(500)
    seen = {
        "off_host": watch.off_host,
        "errors": watch.errors,
        "charts": page.locator("svg.marks").count(),
        "text": page.locator("body").inner_text(),
        "rows": page.locator("table tr").all_inner_texts(),
    }
    context.close()
    return seen


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
