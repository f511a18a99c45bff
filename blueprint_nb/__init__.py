"""blueprint-nb: does this model fit, how slow is every decode step, and how wrong may that be?

Model + mapping + phase become a plan of exact work, a hardware profile gives each component a cost, a request is
composed of a prefill and decode steps. Each step can be looked at.
"""

from .analysis import Estimate
from .catalog import load_model, load_system
from .errors import BlueprintError
from .front_door import describe, estimate, kv_cache_bytes, list_models, list_systems, sweep
from .system import SystemProfile
from .version import __version__
from .workload import TransformerModelSpec

__all__ = [
    "BlueprintError",
    "Estimate",
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
