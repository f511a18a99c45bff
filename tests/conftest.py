"""Fixtures and Hypothesis profiles that every test may use."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

IN_CI = bool(os.environ.get("CI"))
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

# A busy machine makes a slow example, not a wrong one: neither profile has a deadline.
_COMMON = settings(deadline=None, derandomize=IN_CI, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fast", _COMMON, max_examples=30)
settings.register_profile("full", _COMMON, max_examples=120)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "full" if IN_CI else "fast"))


def find_browser() -> str | None:
    """The browser named by BLUEPRINT_NB_CHROMIUM, or the first that is on the PATH."""
    named = os.environ.get("BLUEPRINT_NB_CHROMIUM")
    for name in [named] if named else BROWSERS:
        if found := shutil.which(name):
            return found
    return None


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of a Chromium to drive, as Playwright's `executable_path`."""
    if found := find_browser():
        return found
    named = os.environ.get("BLUEPRINT_NB_CHROMIUM")
    reason = (
        f"BLUEPRINT_NB_CHROMIUM={named} is not a program that can be run."
        if named
        else "No Chromium or Chrome was found on the PATH. On Debian: apt-get install chromium. "
        "Or set BLUEPRINT_NB_CHROMIUM to the browser's path."
    )
    if named or os.environ.get("BLUEPRINT_NB_REQUIRE_BROWSER") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def vidur_data() -> Path:
    """The folder named by BLUEPRINT_NB_VIDUR_DATA, which holds Vidur's `profiling/`."""
    named = os.environ.get("BLUEPRINT_NB_VIDUR_DATA")
    if not named:
        pytest.skip("BLUEPRINT_NB_VIDUR_DATA names no folder of Vidur's profiles.")
    if not (Path(named) / "profiling").is_dir():
        pytest.skip(f"BLUEPRINT_NB_VIDUR_DATA={named} holds no folder profiling.")
    return Path(named)
