"""A JupyterLab of its own for a browser test: own folders, own port, no news, gone afterwards."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
_TOKEN = "browser-test"
_START_SECONDS = 60


@contextmanager
def running_lab(notebooks: Path, scratch: Path, settings: dict[str, Any] | None = None) -> Iterator[str]:
    """The address of a JupyterLab that serves `notebooks` and keeps everything else in `scratch`."""
    port = _free_port()
    flags = [
        "--no-browser",
        "--allow-root",
        "--ip=127.0.0.1",
        f"--port={port}",
        "--ServerApp.port_retries=0",
        f"--IdentityProvider.token={_TOKEN}",
        f"--ServerApp.root_dir={notebooks}",
        f"--LabApp.app_settings_dir={_settings(scratch, settings or {})}",
        "--LabApp.news_url=",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    log = scratch / "jupyterlab.log"
    with log.open("w") as sink:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *flags], env=_environment(scratch), stdout=sink, stderr=sink
        )
    try:
        _wait(f"http://127.0.0.1:{port}/api?token={_TOKEN}", server, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(20)


def open_notebook(page: Any, address: str, name: str) -> None:
    """Opens a notebook and waits for its kernel: Run All before that silently does nothing."""
    page.goto(f"{address}/lab/tree/{name}?token={_TOKEN}")
    page.locator("#jp-main-statusbar", has_text="| Idle").wait_for(timeout=60_000)


def run_all(page: Any) -> None:
    """Run → Run All Cells."""
    page.locator(".lm-MenuBar-itemLabel", has_text=re.compile("^Run$")).click()
    page.locator(".lm-Menu-itemLabel", has_text=re.compile("^Run All Cells$")).click()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _environment(scratch: Path) -> dict[str, str]:
    names = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "JUPYTERLAB_SETTINGS_DIR")
    folders = {name: str(scratch / name.lower()) for name in (*names, "JUPYTERLAB_WORKSPACES_DIR", "IPYTHONDIR")}
    return {**os.environ, **folders}


def _settings(scratch: Path, settings: dict[str, Any]) -> Path:
    folder = scratch / "lab-settings"
    folder.mkdir(parents=True)
    news = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}
    (folder / "overrides.json").write_text(json.dumps({**news, **settings}))
    return folder


def _wait(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    give_up = time.monotonic() + _START_SECONDS
    while time.monotonic() < give_up and server.poll() is None:
        try:
            urllib.request.urlopen(address, timeout=1).close()
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()[-2000:]}")
