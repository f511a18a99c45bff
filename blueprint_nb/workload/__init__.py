"""What is asked: a model, a request, and the workload of one step. Knows nobody."""

from .binding import InferencePhase, SequenceGroup, WorkloadBinding
from .datatype import BYTES_PER_ELEMENT, DATATYPES, element_bytes
from .model import ModelProvenance, TransformerModelSpec
from .request import TransformerInferenceRequestSpec
from .statistics import STATISTICS, step_statistics

__all__ = [
    "BYTES_PER_ELEMENT",
    "DATATYPES",
    "STATISTICS",
    "InferencePhase",
    "ModelProvenance",
    "SequenceGroup",
    "TransformerInferenceRequestSpec",
    "TransformerModelSpec",
    "WorkloadBinding",
    "element_bytes",
    "step_statistics",
]
