"""Cost forms of kernel families: seconds from a shape, a machine's figures and a few parameters, by named terms."""

from .family import Family, KernelTime, Parameter
from .gemm import Gemm
from .machine import Machine, machine_of

__all__ = ["Family", "Gemm", "KernelTime", "Machine", "Parameter", "machine_of"]
