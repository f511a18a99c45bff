"""blueprint-nb: does this model fit, how slow is every decode step, and how wrong may that be?

Model + mapping + phase become a plan of exact work, a hardware profile gives each component a cost, a request is
composed of a prefill and decode steps. Each step can be looked at. Names are imported when they are first used, so
that importing the package costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from .errors import BlueprintError

if TYPE_CHECKING:
    from .analysis import Estimate
    from .catalog import load_model, load_system
    from .evidence import PerformanceDatabase
    from .front_door import describe, estimate, kv_cache_bytes, list_models, list_systems, sweep
    from .system import SystemProfile
    from .version import __version__
    from .workload import TransformerModelSpec

__all__ = [
    "BlueprintError",
    "Estimate",
    "PerformanceDatabase",
    "SystemProfile",
    "TransformerModelSpec",
    "__version__",
    "describe",
    "estimate",
    "kv_cache_bytes",
    "list_models",
    "list_systems",
    "load_model",
    "load_system",
    "sweep",
]

_HOMES = {
    "Estimate": "analysis",
    "PerformanceDatabase": "evidence",
    "SystemProfile": "system",
    "TransformerModelSpec": "workload",
    "__version__": "version",
    "load_model": "catalog",
    "load_system": "catalog",
    **dict.fromkeys(("describe", "estimate", "kv_cache_bytes", "list_models", "list_systems", "sweep"), "front_door"),
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
