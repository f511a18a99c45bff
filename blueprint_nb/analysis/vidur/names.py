"""Which names of Vidur stand for which of the project's: the one place where it is declared.

Vidur's A100 of `compute` and `attention` is a PCIe card and its H100 an SXM card, by the throughput they reach; the
reference presets name neither form, so each stands for its chip. Collectives were timed on other machines, DGX boxes,
whose switch no PCIe card has. A name always stands for itself too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SYSTEMS: Final[Mapping[str, tuple[str, ...]]] = {
    "a100": ("a100_80g", "a100_80g_pcie"),
    "h100": ("h100_80g_nvl8", "h100_80g_sxm"),
    "a40": ("a40_48g",),
}
"""Vidur's name of a hardware to the systems that its kernel times may stand for."""

NETWORKS: Final[Mapping[str, tuple[str, ...]]] = {
    "a100": ("a100_80g", "a100_80g_sxm"),
    "a100_dgx": ("a100_80g", "a100_80g_sxm"),
    "h100": ("h100_80g_nvl8", "h100_80g_sxm"),
    "h100_dgx": ("h100_80g_nvl8", "h100_80g_sxm"),
    "a40": ("a40_48g",),
}
"""Vidur's name of a machine to the systems that its collectives may stand for."""

MODELS: Final[Mapping[str, tuple[str, ...]]] = {
    "Qwen/Qwen-72B": ("qwen-72b",),
    "codellama/CodeLlama-34b-Instruct-hf": ("codellama-34b",),
    "internlm/internlm-20b": ("internlm-20b",),
    "meta-llama/Llama-2-70b-hf": ("llama-2-70b",),
    "meta-llama/Llama-2-7b-hf": ("llama-2-7b",),
    "microsoft/phi-2": ("phi-2-dense-mha", "phi-2"),
}
"""Vidur's name of a model to the models it may stand for."""


def stands_for(name: str, declared: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Every name that `name` may stand for, itself first."""
    return (name, *declared.get(name, ()))
