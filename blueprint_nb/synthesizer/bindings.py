"""What is bound to a model on its way to a plan: the phase and workload of a step."""

from ..workload import InferencePhase, SequenceGroup, WorkloadBinding

__all__ = ["InferencePhase", "SequenceGroup", "WorkloadBinding"]
