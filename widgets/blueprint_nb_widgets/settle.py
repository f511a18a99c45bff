"""Makes a state legal after one control moved, changing as little as it can and saying what it changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .options import MOST_SEQUENCES, Choice, Options, options_for
from .state import ExplorerState


@dataclass(frozen=True, slots=True)
class Settled:
    """A legal state, its options, and a note for each field that had to give way."""

    state: ExplorerState
    options: Options
    notes: Mapping[str, str]


def settle(state: ExplorerState, moved: str = "") -> Settled:
    """The legal state nearest to `state`. The field `moved` last gives way first, so that the others stay put."""
    options = options_for(state.model, state.system)
    notes: dict[str, str] = {}
    for field in ("tensor_parallel", "pipeline_parallel"):
        state = _at_most(state, field, getattr(options, field), notes)
    for field in ("datatype", "mode"):
        state = _offered(state, field, getattr(options, field), notes)
    if state.mode == "calibrated":
        state = _offered(state, "calibration", options.calibration, notes)
    else:
        state = state.with_value("calibration", None)
    state = _within(state, "batch_size", MOST_SEQUENCES, f"batches of up to {MOST_SEQUENCES:,} are offered", notes)
    return Settled(_settle_context(state, options.most_context_tokens, moved, notes), options, notes)


def _at_most(state: ExplorerState, field: str, choice: Choice[int], notes: dict[str, str]) -> ExplorerState:
    """The largest offered value that isn't above the wanted one."""
    wanted = getattr(state, field)
    if wanted in choice.offered:
        return state
    fitting = max((value for value in choice.offered if value <= wanted), default=choice.offered[0])
    notes[field] = f"set to {fitting}, {wanted} is not legal here"
    return state.with_value(field, fitting)


def _offered(state: ExplorerState, field: str, choice: Choice[str], notes: dict[str, str]) -> ExplorerState:
    """What is wanted, or the default; that needs a note only where something else was wanted."""
    wanted = getattr(state, field)
    if wanted in choice.offered or not choice.offered:
        return state
    if wanted is not None:
        notes[field] = f"set to {choice.default}, {wanted} is not possible here"
    return state.with_value(field, choice.default)


def _settle_context(state: ExplorerState, most: int, moved: str, notes: dict[str, str]) -> ExplorerState:
    order = ("generated_tokens", "prompt_tokens") if moved == "generated_tokens" else _PROMPT_FIRST
    for field in order:
        state = _within(state, field, most, f"the sequence length of {state.model.name} is {most:,}", notes)
    for field in order:
        other = state.prompt_tokens + state.generated_tokens - getattr(state, field)
        room = max(1, most - other + 1)
        state = _within(state, field, room, f"prompt + generated − 1 may be at most {most:,}", notes)
    return state


_PROMPT_FIRST = ("prompt_tokens", "generated_tokens")


def _within(state: ExplorerState, field: str, most: int, why: str, notes: dict[str, str]) -> ExplorerState:
    wanted = getattr(state, field)
    if 1 <= wanted <= most:
        return state
    held = min(max(wanted, 1), most)
    notes[field] = f"held at {held:,}: {'it must be at least 1' if wanted < 1 else why}"
    return state.with_value(field, held)
