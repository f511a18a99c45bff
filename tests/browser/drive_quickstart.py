"""Opens the quickstart in JupyterLab, runs it, drags sliders, and prints what was seen before and after as JSON.

Arguments: the browser's path, the notebook, a scratch folder.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from lab import CHROMIUM_FLAGS, open_notebook, run_all, running_lab
from offline import is_isolated
from playwright.sync_api import sync_playwright
from watch import Watch

_SEEN = """() => ({
  verdict: document.querySelector('.bp-verdict')?.innerText ?? '',
  chart: document.querySelector('.bp-chart svg.marks')?.outerHTML ?? '',
  table: document.querySelector('.bp-table')?.innerText ?? '',
})"""
_ALL_CHANGED = f"""before => {{
  const now = ({_SEEN})();
  return now.chart !== '' && Object.keys(now).every(part => now[part] !== before[part]);
}}"""

_MOST_LOOKS = 20
_MEASURED = """() => {
  const table = document.querySelector('.bp-errors'), bars = [...table.querySelectorAll('.bp-bar i')];
  return {
    rows: [...table.querySelectorAll('tbody tr')].map(row => [...row.cells].map(cell => cell.innerText)),
    bars: bars.filter(bar => bar.getBoundingClientRect().width > 0).length,
    charts: [...document.querySelectorAll('.bp-chart')].filter(chart => chart.offsetParent).length,
    overflow: table.scrollWidth - table.parentElement.clientWidth,
  };
}"""

_SIZES = ((1600, 1100), (1280, 800), (760, 1000))
"""Pixels of the window; the last is as narrow as a notebook beside another."""
_TABS = ("Latency", "Memory", "Components", "Mapping", "Error")
_CUT = """() => ['.bp-explorer', '.bp-body', '.bp-result', '.bp-views', '.bp-table-box', '.bp-error-table']
  .filter(name => {
    const box = document.querySelector(name);
    return box.offsetParent && box.scrollHeight > box.clientHeight;
  })"""


def main(browser: str, notebook: Path, scratch: Path) -> None:
    folder = scratch / "notebooks"
    folder.mkdir()
    shutil.copy(notebook, folder)
    isolated = is_isolated()
    with running_lab(folder, scratch) as address, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=CHROMIUM_FLAGS)
        page = chromium.new_page(viewport={"width": 1400, "height": 1000})
        watch = Watch(page, address, address.replace("http", "ws"))
        try:
            seen = drive(page, address, notebook.name)
        except Exception:
            page.screenshot(path=str(scratch / "failed.png"))
            print((scratch / "jupyterlab.log").read_text()[-2000:], watch.errors, watch.off_host)
            raise
        chromium.close()
    print(json.dumps({"isolated": isolated, "off_host": watch.off_host, "errors": watch.errors, **seen}))


def drive(page: Any, address: str, name: str) -> dict[str, Any]:
    """Run All, then a drag of TP and one of batch, then the errors of one model and of another, then every tab."""
    open_notebook(page, address, name)
    run_all(page)
    page.locator(".bp-chart svg.marks").wait_for(timeout=90_000)
    page.locator(".jp-Notebook").get_by_text("under 1.5 MB: True").last.wait_for(timeout=90_000)
    page.locator("#jp-main-statusbar", has_text="| Idle").wait_for(timeout=60_000)
    start = page.evaluate(_SEEN)
    tensor_parallel = drag(page, "TP", 1.0, start)
    batch = drag(page, "Batch", 0.6, tensor_parallel)
    size = int(page.locator(".bp-of-batch_size input[type=number]").input_value())
    reasons = page.locator(".bp-legal .bp-hint").first.inner_text()
    return {
        "start": start,
        "tensor_parallel": tensor_parallel,
        "batch": batch,
        "batch_size": size,
        "reasons": reasons,
        "measured": measured(page),
        "cut": cut(page),
        "trouble": page.locator("[data-mime-type='application/vnd.jupyter.stderr'], .bp-error").all_inner_texts(),
    }


def drag(page: Any, label: str, share: float, before: dict[str, str]) -> dict[str, str]:
    """Drags a slider to a share of its length; returns what is seen once verdict, chart and table all differ."""
    control = page.locator(".bp-control").filter(has=page.locator(f"label:text-is('{label}')"))
    handle = control.locator(".noUi-handle")
    handle.scroll_into_view_if_needed()
    at, track = handle.bounding_box(), control.locator(".noUi-base").bounding_box()
    x, y = at["x"] + at["width"] / 2, at["y"] + at["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(1, 16):
        page.mouse.move(x + (track["x"] + track["width"] * share - x) * step / 15, y)
        page.wait_for_timeout(20)
    page.mouse.up()
    page.wait_for_function(_ALL_CHANGED, arg=before, timeout=30_000)
    return settled(page)


def settled(page: Any) -> dict[str, str]:
    """What is seen once it stays: on a busy machine the results of a drag come late and one after the other."""
    seen: dict[str, str] = {}
    for _ in range(_MOST_LOOKS):
        page.wait_for_function("() => !document.querySelector('.bp-explorer.bp-stale')", timeout=30_000)
        before, seen = seen, page.evaluate(_SEEN)
        if seen == before:
            break
        page.wait_for_timeout(1_000)
    return seen


def measured(page: Any) -> dict[str, Any]:
    """The tab Error: of the model that nothing was measured of, then of the one that a profile ships of."""
    page.locator(".bp-tabs button", has_text="Error").click()
    nothing = page.locator(".bp-nothing").inner_text()
    page.locator(".bp-of-model select").select_option("phi-2-dense-mha")
    page.locator(".bp-of-system select").select_option("a100_80g")
    page.locator(".bp-of-tensor_parallel .noUi-handle").press("Home")
    page.locator(".bp-of-batch_size input[type=number]").fill("1")
    page.locator(".bp-of-batch_size input[type=number]").press("Enter")
    page.locator(".bp-errors caption", has_text="batch 1, TP 1").wait_for(timeout=30_000)
    page.locator(".bp-error-table .bp-chart svg.marks").wait_for(timeout=30_000)
    return {"nothing": nothing, **page.evaluate(_MEASURED)}


def cut(page: Any) -> list[str]:
    """Every box that is lower than what is in it, of each tab in windows of several sizes."""
    found = []
    for tab in _TABS:
        before = page.locator(".bp-views").inner_text()
        page.locator(".bp-tabs button", has_text=tab).click()
        page.wait_for_function(
            "before => document.querySelector('.bp-views').innerText !== before", arg=before, timeout=30_000
        )
        for width, height in _SIZES:
            page.set_viewport_size({"width": width, "height": height})
            page.wait_for_timeout(500)
            found += [f"{tab} at {width} x {height}: {name}" for name in page.evaluate(_CUT)]
    return found


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
