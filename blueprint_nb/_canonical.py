"""Canonical content and its digest.

Content has no class names and leaves out fields that are at their schema's default, so that neither a renamed class
nor a new optional field changes an old digest. The digest is SHA-256 over JSON with sorted keys and no spaces, so it
is the same in every process, hash seed and Python version.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from enum import Enum
from functools import cached_property, lru_cache
from typing import Any

from ._schema import Record


def content(value: object) -> Any:
    """`value` as JSON data: records without defaults and without the fields that are for the reader only."""
    if isinstance(value, Record):
        return _record_content(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): content(item) for key, item in value.items()}
    if isinstance(value, (frozenset, set)):
        return sorted(content(item) for item in value)
    if isinstance(value, (tuple, list)):
        return [content(item) for item in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"no canonical form for {type(value).__name__}")


def plain(value: Any) -> Any:
    """`value` as JSON data for a reader: records whole, sets in an order that no hash seed changes."""
    if isinstance(value, Record):
        return plain(value.model_dump())
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (frozenset, set)):
        return sorted(value)
    return [plain(item) for item in value] if isinstance(value, (tuple, list)) else value


def canonical_json(value: object) -> str:
    """The one JSON text of `value`'s content."""
    return json.dumps(content(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value: object) -> str:
    """SHA-256 of `value`'s canonical JSON, as hexadecimal."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


class Digested(Record):
    """A record that is known by its content: it hashes by its digest."""

    @cached_property
    def digest(self) -> str:
        """Of the canonical content."""
        return digest(self)

    def __hash__(self) -> int:
        return hash(self.digest)

    def to_json(self) -> str:
        """Canonical JSON."""
        return canonical_json(self)


def _record_content(record: Record) -> dict[str, Any]:
    kept = {}
    defaults = _defaults(type(record))
    for name in type(record).model_fields:
        value = getattr(record, name)
        if name in record.not_content or (name in defaults and value == defaults[name]):
            continue
        kept[name] = content(value)
    return kept


@lru_cache(maxsize=256)
def _defaults(kind: type[Record]) -> dict[str, Any]:
    """Field to default. Pydantic copies a default each time it is asked for, which would be most of a digest's time."""
    fields = kind.model_fields.items()
    return {name: field.get_default(call_default_factory=True) for name, field in fields if not field.is_required()}
