"""Dependencies are declared once, pinned by name and version alone, and loaded only where they are used."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[2]
PINNED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==[0-9][A-Za-z0-9.!+]*")
REGISTRY_ADDRESS = re.compile(
    r"""
    \b(?:pypi|pythonhosted|anaconda|npmjs|yarnpkg)\.(?:org|com|io)\b   # a public registry
    | https?://\S*/simple\b                                            # any package index
    | --(?:extra-)?index-url | --find-links | --trusted-host           # an option that names one
    """,
    re.VERBOSE | re.IGNORECASE,
)


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def direct_dependencies(project: dict[str, Any]) -> list[Requirement]:
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *(line for extra in extras.values() for line in extra)]
    return [Requirement(line) for line in lines if Requirement(line).name != project["name"]]


@pytest.fixture(scope="module")
def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in lines)}


@pytest.fixture(scope="module")
def tracked_files() -> list[Path]:
    listing = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, text=True, check=False)
    if listing.returncode != 0:
        pytest.skip("not a git checkout, so nothing says which files are tracked")
    return [ROOT / name for name in listing.stdout.split("\0") if name]


def test_the_conda_environment_holds_only_python_pip_and_the_project(project: dict[str, Any]) -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())

    assert environment["dependencies"] == [
        f"python{project['requires-python']}",
        "pip",
        {"pip": ["-e .[notebook,test]"]},
    ]


def test_the_engine_alone_needs_no_jupyter_and_no_chart_library(project: dict[str, Any]) -> None:
    names = {Requirement(line).name for line in project["dependencies"]}

    assert names == {"click", "numpy", "polars", "pydantic"}


def test_every_direct_dependency_has_a_lower_bound(direct_dependencies: list[Requirement]) -> None:
    unbounded = [str(need) for need in direct_dependencies if ">=" not in str(need.specifier)]

    assert unbounded == []


def test_constraints_are_names_and_versions_only() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()

    assert [line for line in lines if not PINNED.fullmatch(line)] == []
    names = [line.partition("==")[0].lower() for line in lines]
    assert names == sorted(set(names))
    assert "blueprint-nb" not in names


def test_constraints_pin_every_direct_dependency_within_its_bounds(
    direct_dependencies: list[Requirement], pins: dict[str, str]
) -> None:
    assert [need.name for need in direct_dependencies if canonicalize_name(need.name) not in pins] == []
    assert [
        f"{need} but {pins[canonicalize_name(need.name)]} is pinned"
        for need in direct_dependencies
        if Version(pins[canonicalize_name(need.name)]) not in need.specifier
    ] == []


def test_no_lock_file_is_tracked(tracked_files: list[Path]) -> None:
    locks = {"uv.lock", "poetry.lock", "pdm.lock", "pylock.toml", "package-lock.json", "yarn.lock"}

    assert [str(path) for path in tracked_files if path.name in locks] == []


def test_no_tracked_text_names_the_address_of_a_package_registry(tracked_files: list[Path]) -> None:
    found = []
    for path in tracked_files:
        if not path.is_file() or path == Path(__file__).resolve():
            continue
        text = path.read_bytes().decode("utf-8", errors="ignore")
        found += [f"{path.relative_to(ROOT)}: {match.group()}" for match in REGISTRY_ADDRESS.finditer(text)]

    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        "source = { registry = 'https://mirror.example/root/simple' }",
        "--extra" + "-index-url file:///wheels",
        "https://files.pythonhosted" + ".org/packages/x.whl",
    ],
)
def test_the_search_for_registry_addresses_finds_one(line: str) -> None:
    assert REGISTRY_ADDRESS.search(line)


def test_importing_the_engine_loads_none_of_its_dependencies_and_no_jupyter() -> None:
    heavy = {"click", "numpy", "polars", "pydantic", "altair", "vl_convert", "jinja2"}
    jupyter = {"IPython", "anywidget", "ipykernel", "ipywidgets", "jupyterlab", "traitlets"}
    script = "import json, sys, blueprint_nb; print(json.dumps(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    loaded = {name.partition(".")[0] for name in json.loads(run.stdout)}

    assert "blueprint_nb" in loaded
    assert loaded & (heavy | jupyter) == set()
