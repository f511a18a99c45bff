"""The workload of one step: its groups, its phase, its statistics."""

from __future__ import annotations

import numpy as np
import pytest
from architectures import workloads
from hypothesis import given
from hypothesis import strategies as st

from blueprint_nb.errors import InvalidInputError
from blueprint_nb.synthesizer import bindings
from blueprint_nb.workload import InferencePhase, SequenceGroup, WorkloadBinding, step_statistics


def enumerated(q: int, c: int, n: int, block: int) -> dict[str, int]:
    """The statistics by looking at every query, every key and every block."""
    causal = sum(sum(1 for key in range(c) if key <= c - q + query) for query in range(q))
    blocks = len({key // block for key in range(c)})
    return {
        "tokens": n * len(range(q)),
        "sequences": n,
        "query_context": n * sum(c for _ in range(q)),
        "causal_query_context": n * causal,
        "context": n * c,
        "allocated_context": n * blocks * block,
    }


@given(st.data())
def test_statistics_count_queries_keys_and_blocks(data: st.DataObject) -> None:
    c = data.draw(st.integers(1, 60))
    q = data.draw(st.integers(1, c))
    n, block = data.draw(st.integers(1, 9)), data.draw(st.integers(1, 20))
    assert step_statistics(q, c, n, block) == enumerated(q, c, n, block)


@given(workloads(), st.integers(1, 64))
def test_statistics_of_groups_add_up(workload: WorkloadBinding, block: int) -> None:
    parts = [step_statistics(g.query_tokens, g.context_tokens, g.count, block) for g in workload.groups]
    assert workload.statistics(block) == {name: sum(part[name] for part in parts) for name in parts[0]}


@given(st.lists(st.tuples(st.integers(1, 500), st.integers(0, 500), st.integers(1, 9)), min_size=1))
def test_statistics_on_arrays_are_those_of_each_point(points: list[tuple[int, int, int]]) -> None:
    q, more, n = (np.array(column, dtype=np.int64) for column in zip(*points, strict=True))
    arrays = step_statistics(q, q + more, n, 16)
    for index, (queries, extra, count) in enumerate(points):
        alone = step_statistics(queries, queries + extra, count, 16)
        assert {name: int(values[index]) for name, values in arrays.items()} == alone


def test_a_prefill_sees_its_prompt_and_a_decode_brings_one_token() -> None:
    prefill = WorkloadBinding.prefill(batch_size=2, prompt_tokens=9, datatype="float16")
    decode = WorkloadBinding.decode(batch_size=2, context_tokens=9, datatype="float16")
    assert prefill.groups == (SequenceGroup(query_tokens=9, context_tokens=9, count=2),)
    assert decode.groups == (SequenceGroup(query_tokens=1, context_tokens=9, count=2),)
    assert (prefill.phase, decode.phase) == ("prefill", "decode")
    assert InferencePhase.PREFILL.workload(batch_size=2, context_tokens=9, datatype="float16") == prefill
    assert InferencePhase.DECODE.workload(batch_size=2, context_tokens=9, datatype="float16") == decode


def test_other_sets_of_groups_are_mixed() -> None:
    chunk = SequenceGroup(query_tokens=4, context_tokens=9, count=1)
    decode = SequenceGroup(query_tokens=1, context_tokens=20, count=3)
    mixed = WorkloadBinding(groups=(chunk, decode), datatype="float16")
    assert mixed.phase == "mixed"


def test_the_bindings_of_the_synthesizer_are_those_of_the_workload() -> None:
    assert bindings.InferencePhase is InferencePhase
    assert bindings.WorkloadBinding is WorkloadBinding


def test_a_context_includes_its_queries() -> None:
    with pytest.raises(InvalidInputError) as caught:
        WorkloadBinding(groups=({"query_tokens": 5, "context_tokens": 4, "count": 1},), datatype="float16")
    assert str(caught.value) == (
        "groups.0.context_tokens must be at least query_tokens, 5. Got 4. The visible context includes the new tokens."
    )


def test_a_step_without_sequences_is_refused() -> None:
    with pytest.raises(InvalidInputError) as caught:
        WorkloadBinding(groups=(), datatype="float16")
    assert str(caught.value) == "groups must hold at least one group of sequences. Got ()."
