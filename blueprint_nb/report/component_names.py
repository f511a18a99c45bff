"""Components as a person reads them."""

from __future__ import annotations

from typing import Final

_AS_WRITTEN: Final = {"qkv": "QKV", "kv": "KV", "mlp": "MLP", "lm": "LM", "rope": "RoPE"}


def component_name(component: str) -> str:
    """qkv_projection is "QKV projection"."""
    first, *others = (_AS_WRITTEN.get(word, word) for word in component.split("_"))
    return " ".join([first if first in _AS_WRITTEN.values() else first.capitalize(), *others])
