"""What it runs on: engines, memory, network tiers, efficiency curves. Knows no model and no mapping."""

from .efficiency import ComputeStep, MemoryStep, fractions
from .engine import ComputeEngine
from .memory import DeviceMemory
from .network import Collective, CollectiveCost, NetworkTier
from .profile import SystemProfile

__all__ = [
    "Collective",
    "CollectiveCost",
    "ComputeEngine",
    "ComputeStep",
    "DeviceMemory",
    "MemoryStep",
    "NetworkTier",
    "SystemProfile",
    "fractions",
]
