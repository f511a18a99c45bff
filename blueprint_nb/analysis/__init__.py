"""A phase, a request, memory and sweeps, from plans and a cost provider."""

from .cautions import cautions
from .description import ModelDescription, describe_model, key_value_cache_bytes
from .estimate import Estimate
from .inputs import CacheInputs, RequestInputs
from .lowering import Lowered, attention_of, lower, stack_block
from .mapping_table import mapping_table
from .memory import MemoryParts, MemoryReport, peak_memory, step_memory
from .memory_search import Fix, candidate_mappings, fits, smallest_fix
from .phase import PhaseEstimate, estimate_inference_phase
from .request import estimate_request
from .sweep import SweepInputs, sweep_components, sweep_points
from .verdict import Verdict
from .vidur import VidurCorpus, VidurProfileBaseline, VidurReference, load_slice

__all__ = [
    "CacheInputs",
    "Estimate",
    "Fix",
    "Lowered",
    "MemoryParts",
    "MemoryReport",
    "ModelDescription",
    "PhaseEstimate",
    "RequestInputs",
    "SweepInputs",
    "Verdict",
    "VidurCorpus",
    "VidurProfileBaseline",
    "VidurReference",
    "attention_of",
    "candidate_mappings",
    "cautions",
    "describe_model",
    "estimate_inference_phase",
    "estimate_request",
    "fits",
    "key_value_cache_bytes",
    "load_slice",
    "lower",
    "mapping_table",
    "peak_memory",
    "smallest_fix",
    "stack_block",
    "step_memory",
    "sweep_components",
    "sweep_points",
]
