"""Exact evidence: a kernel that was measured takes what was measured, and says which records that was."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from blueprint_nb.cost import (
    AnalyticalProvider,
    ComponentCost,
    CostBlock,
    CostResolver,
    NoiseFloors,
    evidence_providers,
)
from blueprint_nb.cost.exact_evidence import ExactEvidenceProvider
from blueprint_nb.errors import InvalidInputError
from blueprint_nb.evidence import observation_frame
from blueprint_nb.mapping import NetworkTierBinding

from .sets import A100, NETWORK, grid, step

NOISE = NoiseFloors(
    source="made for a test",
    devices={"a100": {"gemm_percent": 2, "other_percent": 3}, "a40": {"gemm_percent": 1, "other_percent": 4}},
)
PEAK = AnalyticalProvider("peak-only")
# Of `architectures.decoder`: the QKV projection of 64 wide activations, and attention of 8 heads of 16, 2 of them kept.
QKV = {"n": (8 + 2 * 2) * 16, "k": 64}
CORE = {"batch": 2, "query_tokens": 1, "heads": 8, "kv_heads": 2, "head_size": 16}


def measured(family: str = "gemm", **changes: Any) -> pl.DataFrame:
    """Observations as the columns in `changes` say; a list is a column of several rows."""
    base = {
        "target": "a100", "family": family, "component": "op", "datatype": "float16", "software": "vllm",
        "software_version": "0.24", "seconds": 1e-5, "source": "made", "source_revision": "r1", "file_sha256": "0" * 64,
        "licence": "MIT",
    }  # fmt: skip
    columns = {name: value for name, value in changes.items() if isinstance(value, list)}
    rows = len(next(iter(columns.values()))) if columns else 1
    columns.setdefault("record", [f"made.csv:{line}" for line in range(2, rows + 2)])
    constants = {name: value for name, value in {**base, **changes}.items() if name not in columns}
    return observation_frame(columns, **constants)


def of(block: CostBlock, component: str) -> ComponentCost:
    return next(cost for activity, cost in block.priced if activity.component == component)


def priced(frame: pl.DataFrame, activity: Any = None, network: NetworkTierBinding = NETWORK) -> CostBlock:
    stack = CostResolver([list(evidence_providers(frame, NOISE)), PEAK])
    return stack.resolve(activity or step(), A100, network)


def methods(cost: ComponentCost) -> list[str]:
    index = np.broadcast_to(cost.origin_index, np.shape(cost.seconds))
    return [cost.origins[one].method for one in index.reshape(-1).tolist()]


def test_a_measured_shape_takes_the_median_of_its_records() -> None:
    frame = measured(m=2, **QKV, seconds=[1e-5, 4e-5, 2e-5], samples=[20, 20, 5])
    cost = of(priced(frame), "qkv_projection")
    assert float(cost.seconds) == 2e-5
    origin = cost.origins[int(cost.origin_index)]
    assert origin.provider == "exact-evidence:vllm 0.24 from made r1"
    assert (origin.method, origin.match) == ("exact-evidence", "exact shape")
    assert (origin.records, origin.samples) == (("made.csv:2", "made.csv:3", "made.csv:4"), 45)
    assert origin.spread_seconds == pytest.approx(3e-5)
    assert cost.band is not None
    assert (float(cost.band.low_seconds), float(cost.band.high_seconds)) == pytest.approx((0.5e-5, 3.5e-5))


def test_all_else_stays_with_whoever_is_stacked_behind() -> None:
    with_evidence, plain = priced(measured(m=2, **QKV)), PEAK.cost(step(), A100, NETWORK)
    for activity, cost in with_evidence.priced:
        if activity.component != "qkv_projection":
            assert cost == of(plain, activity.component)


@pytest.mark.parametrize("change", [{"m": 3}, {"n": 191}, {"k": 65}, {"datatype": "bfloat16"}, {"family": "rope"}])
def test_a_shape_must_be_alike_in_every_dimension_and_in_datatype(change: dict[str, Any]) -> None:
    if change.get("family") == "rope":
        frame = measured("rope", rows=2, width=1)
    else:
        frame = measured(**{"m": 2, **QKV, **change})
    assert methods(of(priced(frame), "qkv_projection")) == ["peak-only"]


def test_without_repeats_the_band_is_the_device_s_noise() -> None:
    cost = of(priced(measured(m=2, **QKV)), "qkv_projection")
    assert cost.band is not None
    assert float(cost.band.high_seconds) / 1e-5 - 1 == pytest.approx(0.02 * 1.645 * np.sqrt(np.pi / 2))
    assert cost.origins[int(cost.origin_index)].spread_seconds is None


def test_repeats_that_agree_by_chance_make_no_narrower_band_than_the_noise() -> None:
    cost = of(priced(measured(m=2, **QKV, seconds=[1e-5, 1e-5])), "qkv_projection")
    assert cost.band is not None
    assert float(cost.band.high_seconds) > 1.02e-5
    assert cost.origins[int(cost.origin_index)].spread_seconds == 0.0


def test_the_spread_within_a_record_counts_too() -> None:
    cost = of(priced(measured(m=2, **QKV, spread_seconds=[4e-6])), "qkv_projection")
    assert cost.band is not None
    assert float(cost.band.low_seconds) == pytest.approx(0.8e-5)


def test_a_device_whose_noise_nobody_knows_has_the_largest() -> None:
    assert NOISE.half_width("h200", "gemm") == NOISE.half_width("a100", "gemm")
    assert NOISE.half_width("h200", "rope") == NOISE.half_width("a40", "rope")


def test_a_block_is_priced_point_by_point() -> None:
    frame = measured("attention_decode", **CORE, context_tokens=[10, 30], seconds=[1e-5, 3e-5])
    cost = of(priced(frame, grid([1, 2], [10, 20, 30])), "attention_core")
    assert methods(cost) == ["peak-only"] * 3 + ["exact-evidence", "peak-only", "exact-evidence"]
    assert cost.seconds[1, [0, 2]].tolist() == [1e-5, 3e-5]
    index = np.broadcast_to(cost.origin_index, cost.seconds.shape)
    assert [cost.origins[index[1, column]].records for column in (0, 2)] == [("made.csv:2",), ("made.csv:3",)]


def test_sequences_that_differ_are_no_shape_that_was_measured() -> None:
    from architectures import decoder, planned

    from blueprint_nb.cost import plan_activity
    from blueprint_nb.workload import SequenceGroup, WorkloadBinding

    frame = measured("attention_prefill", **{**CORE, "query_tokens": 10}, context_tokens=10)
    for queries, method in (((10, 10), "exact-evidence"), ((5, 15), "peak-only")):
        groups = tuple(SequenceGroup(query_tokens=one, context_tokens=one, count=1) for one in queries)
        workload = WorkloadBinding(groups=groups, datatype="float16")
        activity = plan_activity(planned(decoder(), workload).bound)
        assert methods(of(priced(frame, activity), "attention_core")) == [method]


def test_attention_that_also_writes_the_cache_prices_neither() -> None:
    frame = measured("attention_decode", **CORE, context_tokens=100, kernel="FLASH_ATTENTION+kv_save")
    assert evidence_providers(frame, NOISE) == ()


def test_collectives_in_a_box_and_between_boxes_are_told_apart() -> None:
    size = 2 * 64 * 2
    frame = measured("all_reduce", message_bytes=size, ranks=2, devices_per_node=[2, 1], seconds=[1e-5, 5e-5])
    for tier, seconds in ((0, 1e-5), (1, 5e-5)):
        network = NetworkTierBinding(tensor_parallel_network=tier)
        cost = of(priced(frame, step(ranks=2), network), "attention_all_reduce")
        assert float(cost.seconds) == seconds


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({"software_version": ["0.23", "0.24"]}, ("vllm 0.23 from made r1", "vllm 0.24 from made r1")),
        ({"source": ["made", "other"]}, ("vllm 0.24 from made r1", "vllm 0.24 from other r1")),
        ({"kernel": ["cublas", "cutlass"]}, ("vllm 0.24 from made r1, cublas", "vllm 0.24 from made r1, cutlass")),
    ],
)
def test_two_sources_of_one_shape_are_two_equal_claims(change: dict[str, Any], names: tuple[str, str]) -> None:
    with pytest.raises(InvalidInputError) as caught:
        priced(measured(m=2, **QKV, **change))
    assert str(caught.value) == (
        "qkv_projection is claimed by two providers of the same place in the stack. "
        f"Got exact-evidence:{names[0]} and exact-evidence:{names[1]}. "
        "Put one of them before the other, or leave one out."
    )


def test_two_sources_of_different_shapes_stand_side_by_side() -> None:
    frame = measured(m=2, n=[QKV["n"], 2 * 192], k=64, software_version=["0.23", "0.24"])
    block = priced(frame)
    assert methods(of(block, "qkv_projection")) == methods(of(block, "mlp_up")) == ["exact-evidence"]


def test_one_provider_takes_the_records_of_one_source() -> None:
    with pytest.raises(InvalidInputError) as caught:
        ExactEvidenceProvider(measured(m=2, **QKV, software_version=["0.23", "0.24"]), NOISE)
    assert str(caught.value) == (
        "observations must be of one source, source_revision, software, software_version, kernel and target. "
        "Got 2 of them."
    )


def test_a_row_names_some_of_many_records() -> None:
    cost = of(priced(measured(m=2, **QKV, seconds=[1e-5] * 9)), "qkv_projection")
    records = cost.origins[int(cost.origin_index)].records
    assert records == ("made.csv:10", "made.csv:2", "made.csv:3", "made.csv:4", "5 more")


def test_the_revision_is_that_of_the_records_in_whatever_order() -> None:
    frame = measured(m=[1, 2], **QKV)
    (one,), (other,) = evidence_providers(frame, NOISE), evidence_providers(frame.reverse(), NOISE)
    (third,) = evidence_providers(frame.head(1), NOISE)
    assert one.revision == other.revision != third.revision


def test_it_explains_itself() -> None:
    (provider,) = evidence_providers(measured(m=2, **QKV, seconds=[1e-5, 2e-5]), NOISE)
    activity = step()
    texts = {one.component: provider.explanation(one, activity, A100, NETWORK) for one in activity.components}
    assert texts["qkv_projection"] == "measured: median of 2 samples, made.csv:2, made.csv:3"
    assert texts["mlp_up"] == ""
