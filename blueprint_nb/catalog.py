"""Finding and reading profiles: the ones that ship with the project, and the user's own TOML files."""

from __future__ import annotations

import json
import tomllib
from functools import lru_cache
from importlib import resources
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Any, TypeVar

from ._schema import Record
from .cost.calibration import CalibrationSet
from .cost.set_check import check_name, check_set
from .errors import BlueprintError, InvalidInputError, ProfileError, os_reason, shown, unknown_name
from .system import SystemProfile
from .workload import TransformerModelSpec

__all__ = [
    "POOLED",
    "load_calibration",
    "load_model",
    "load_system",
    "model_names",
    "profiles_folder",
    "read_record",
    "system_names",
]

Profile = TypeVar("Profile", TransformerModelSpec, SystemProfile)
AnyRecord = TypeVar("AnyRecord", bound=Record)

POOLED = "pooled"
"""The calibration of all devices together, which prices any."""

_LARGEST_BYTES = 10**6
"""A profile takes some kilobytes."""


def profiles_folder() -> Path:
    """The checkout's `profiles/` where there is one, else the copy that ships in the wheel.

    The checkout comes first because an editable install also leaves a frozen copy in site-packages.
    """
    checkout = Path(__file__).resolve().parent.parent / "profiles"
    return checkout if checkout.is_dir() else Path(str(resources.files("blueprint_nb"))) / "profiles"


def model_names() -> tuple[str, ...]:
    """Names of the models that ship with the project, sorted."""
    return _names("models")


def system_names() -> tuple[str, ...]:
    """Names of the systems that ship with the project, sorted."""
    return _names("systems")


def load_model(model: str | Path | TransformerModelSpec) -> TransformerModelSpec:
    """A model by name, from a TOML file, or as it is.

    Raises `UnknownNameError` with the nearest names, `ProfileError` for a file that can't be read, and
    `InvalidInputError` with the file and field for one that breaks a rule.
    """
    if isinstance(model, TransformerModelSpec):
        return model
    return _read_model(_locate(model, "models", "model"))


def load_system(system: str | Path | SystemProfile) -> SystemProfile:
    """A system by name, from a TOML file, or as it is. Raises as `load_model`."""
    if isinstance(system, SystemProfile):
        return system
    # A copy, since the tables in a profile could be written to.
    return _read_system(_locate(system, "systems", "system")).model_copy(deep=True)


def load_calibration(name: str, system: SystemProfile) -> CalibrationSet:
    """The set of fitted parameters `name` that prices `system`, or the pooled one.

    Raises `UnknownNameError`, naming those that the system has.
    """
    if name != POOLED and name not in system.calibrations:
        raise unknown_name("calibration", name, (*system.calibrations, POOLED))
    folder = profiles_folder() / "calibration"
    file_name = f"{name}.json"
    others = (path / file_name for path in sorted(folder.iterdir()) if path.is_dir())
    paths = [folder / file_name] if name == POOLED else [folder / system.base_name / file_name, *others]
    for path in (path for path in paths if name == POOLED or path.is_file()):
        found = _read_calibration(path)
        if name == POOLED or system.base_name in found.systems:
            return found
    raise ProfileError(
        f"calibration {name} of {system.name}",
        rule=f"is in no file of {folder.name}/ that names this system",
        next_step="Take it out of the profile's `calibrations`, so that the pooled one prices it, or restore the file.",
    )


@lru_cache(maxsize=64)
def _read_calibration(path: Path) -> CalibrationSet:
    found = read_record(path, CalibrationSet)
    try:
        check_name(found, path.name)
        check_set(found)
    except BlueprintError as error:
        raise error.under(f"{path.parent.name}/{path.name}") from None
    return found


def read_record(path: Path, kind: type[AnyRecord]) -> AnyRecord:
    """A record of the project itself, from its JSON file.

    Raises `ProfileError` where the file can't be read, and `InvalidInputError` with the file and the field for one that
    breaks a rule.
    """
    try:
        return kind(**json.loads(path.read_text(encoding="utf-8")))
    except BlueprintError as error:
        raise error.under(path.name) from None
    except (OSError, ValueError, TypeError, RecursionError) as error:
        rule = f"can't be read: {os_reason(error)}"
        raise ProfileError(str(path), rule=rule, next_step="Restore the file.") from None


def _names(folder: str) -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in (profiles_folder() / folder).glob("*.toml")))


def _locate(given: object, folder: str, field: str) -> tuple[Path, int, int]:
    if not isinstance(given, (str, Path)):
        raise InvalidInputError(field, got=shown(given), rule="must be a profile's name or the path of a TOML file")
    if isinstance(given, str) and given in _names(folder):
        path = profiles_folder() / folder / f"{given}.toml"
    elif isinstance(given, Path) or given.endswith(".toml"):
        path = Path(given)
    else:
        raise unknown_name(field, given, _names(folder), listing=f"`blueprint-nb show {folder}`")
    try:
        status = path.stat()
    except (OSError, ValueError) as error:
        raise _unreadable(path, os_reason(error)) from None
    if not S_ISREG(status.st_mode) or status.st_size > _LARGEST_BYTES:
        what = "a folder" if S_ISDIR(status.st_mode) else "not a regular file of at most 1 MB"
        raise _unreadable(path, f"it is {what}")
    return path, status.st_mtime_ns, status.st_size


@lru_cache(maxsize=256)
def _read_model(located: tuple[Path, int, int]) -> TransformerModelSpec:
    return _checked(TransformerModelSpec, located[0])


@lru_cache(maxsize=256)
def _read_system(located: tuple[Path, int, int]) -> SystemProfile:
    return _checked(SystemProfile, located[0])


def _checked(kind: type[Profile], path: Path) -> Profile:
    data = _toml(path)
    try:
        return kind(**data)
    except BlueprintError as error:
        raise error.under(path.name) from None
    except RecursionError:
        raise ProfileError(str(path), rule="is nested too deep", next_step="Mend or restore the file.") from None


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        rule = f"is not valid TOML: {error}"
        raise ProfileError(str(path), rule=rule, next_step="Mend or restore the file.") from None
    except OSError as error:
        raise _unreadable(path, os_reason(error)) from None


def _unreadable(path: Path, reason: str) -> ProfileError:
    return ProfileError(str(path), rule=f"can't be read: {reason}", next_step="Check the path.")
