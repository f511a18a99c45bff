"""A plan is exported as canonical JSON and loaded back; whatever was changed in between is noticed."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from architectures import KERNELS, decoder, dense_mha, mapped_models, planned, workloads
from hypothesis import given
from hypothesis import strategies as st

from blueprint_nb.errors import IntegrityError
from blueprint_nb.ir import BoundPlan, PortablePlanIR
from blueprint_nb.workload import TransformerModelSpec, WorkloadBinding

STEP = WorkloadBinding.decode(batch_size=2, context_tokens=100, datatype="float16")
IRS = planned(decoder(), STEP, tensor_parallel=2, pipeline_parallel=2)


@given(mapped_models(), workloads(), st.sampled_from(KERNELS))
def test_a_plan_comes_back_as_it_was(
    mapped: tuple[TransformerModelSpec, int, int], workload: WorkloadBinding, kernel: str
) -> None:
    model, ranks, stages = mapped
    irs = planned(model, workload, tensor_parallel=ranks, pipeline_parallel=stages, attention=kernel)
    for plan in (irs.plan, irs.bound):
        text = plan.to_json()
        back = type(plan).from_json(text)
        assert back == plan
        assert back.digest == plan.digest == json.loads(text)["bound"]["digest"]
        assert back.work == plan.work
        assert back.buffer_bytes == plan.buffer_bytes
        assert back.to_json() == text


def test_the_export_spells_out_every_figure() -> None:
    data = json.loads(IRS.bound.to_json())
    task, work = IRS.bound.task("mlp_up")
    assert data["bound"]["work"][task.id] == work._asdict()
    assert data["bound"]["phase"] == "decode"
    held = dict(zip([b.id for b in IRS.bound.template.buffers], IRS.bound.buffer_bytes, strict=True))
    assert data["bound"]["buffer_bytes"] == held
    assert IRS.bound.to_json() == json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def leaves(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every int, string, bool and null."""
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else None
    if items is None:
        yield path
        return
    for key, item in items:
        yield from leaves(item, (*path, key))


def changed(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else f"{value}x"


@pytest.mark.parametrize(
    ("plan", "each"), [(planned(dense_mha(), STEP).plan, 1), (IRS.bound, 7)], ids=["portable", "bound"]
)
def test_a_change_to_any_single_figure_or_word_is_noticed(plan: PortablePlanIR | BoundPlan, each: int) -> None:
    data = json.loads(plan.to_json())
    paths = list(leaves(data))
    assert len(paths) > 300
    for path in paths[::each]:
        tampered = copy.copy(data)
        holder = tampered
        for key in path[:-1]:
            holder[key] = copy.copy(holder[key])
            holder = holder[key]
        holder[path[-1]] = changed(holder[path[-1]])
        with pytest.raises(IntegrityError):
            type(plan).from_json(json.dumps(tampered))


@given(st.data())
def test_anything_left_out_is_noticed(data: st.DataObject) -> None:
    tampered = json.loads(IRS.bound.to_json())
    holder: Any = tampered
    path = data.draw(st.sampled_from(list(leaves(tampered))))
    for key in path[: data.draw(st.integers(0, len(path) - 1))]:
        holder = holder[key]
    del holder[data.draw(st.sampled_from(list(holder) if isinstance(holder, dict) else range(len(holder))))]
    with pytest.raises(IntegrityError):
        BoundPlan.from_json(json.dumps(tampered))


@pytest.mark.parametrize(
    "text",
    ["", "{", "null", "[]", "3", '"x"', "{}", '{"bound": 1}', '{"template": {}, "workload": {}, "bound": {}}', "[" * 10**5],
)  # fmt: skip
def test_what_is_no_plan_can_not_be_read(text: str) -> None:
    with pytest.raises(IntegrityError, match=r"^plan can't be read: .* Export it again\.$"):
        PortablePlanIR.from_json(text)


def test_a_portable_plan_is_not_a_bound_one() -> None:
    with pytest.raises(IntegrityError, match=r"^plan can't be read: "):
        BoundPlan.from_json(IRS.plan.to_json())
    with pytest.raises(IntegrityError, match=r"^plan can't be read: "):
        PortablePlanIR.from_json(IRS.bound.to_json())


def test_a_changed_figure_is_told_from_its_digest() -> None:
    plan = planned(dense_mha(), STEP).plan
    tampered = json.loads(plan.to_json())
    tampered["bound"]["digest"] = "0" * 64
    with pytest.raises(IntegrityError) as caught:
        PortablePlanIR.from_json(json.dumps(tampered))
    assert str(caught.value) == (
        f"plan.digest must be that of its content, {plan.digest}. Got '{'0' * 64}'. "
        "The plan was changed after it was written: export it again."
    )
