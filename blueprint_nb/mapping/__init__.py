"""How a model is laid out over devices: TP, PP, replicas, and which network tier carries what. Knows nobody."""

from .network import NetworkTierBinding
from .parallelism import TransformerInferenceMappingSpec

__all__ = ["NetworkTierBinding", "TransformerInferenceMappingSpec"]
