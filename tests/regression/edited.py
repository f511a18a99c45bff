"""The contract, its slice and its system, changed as somebody might change them by mistake."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from vidur_profiles import baseline

from blueprint_nb.analysis import VidurProfileBaseline
from blueprint_nb.catalog import profiles_folder

SLICE = profiles_folder() / "vidur" / "phi2_a100_tp1"
CONTRACT = profiles_folder() / "contracts" / "baseline_regression.json"


def content() -> Any:
    """The contract as JSON data."""
    return json.loads(CONTRACT.read_text(encoding="utf-8"))


def edited_baseline(folder: Path, **edits: tuple[str, str]) -> VidurProfileBaseline:
    """The slice with text replaced in its files."""
    for name in ("attention", "mlp"):
        text = (SLICE / f"{name}.csv").read_text()
        old, new = edits.get(name, ("", ""))
        assert old in text
        (folder / f"{name}.csv").write_text(text.replace(old, new, 1) if old else text)
    return baseline(
        attention_csv=folder / "attention.csv", compute_csv=folder / "mlp.csv", model_name="microsoft/phi-2"
    )


def faster_memory(folder: Path) -> Path:
    """The contract's system with twice the bandwidth under the same name, as after a mistaken edit."""
    text = (profiles_folder() / "systems" / "a100_80g.toml").read_text(encoding="utf-8")
    assert text.count("bandwidth_gb_per_s = 2_048\n") == 1
    path = folder / "a100_80g.toml"
    path.write_text(text.replace("bandwidth_gb_per_s = 2_048\n", "bandwidth_gb_per_s = 4_096\n"), encoding="utf-8")
    return path
