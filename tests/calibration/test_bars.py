"""The bars to beat: each learns what its rule can say, from made-up times that follow the rule exactly."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from blueprint_nb.calibration.bars import BARS, PLAIN_BARS
from blueprint_nb.calibration.bars_constant import ConstantEfficiency
from blueprint_nb.calibration.bars_ensemble import Ensemble
from blueprint_nb.calibration.bars_roofline import PeakRoofline
from blueprint_nb.calibration.bars_steps import StepCurves
from blueprint_nb.calibration.bars_work import WORK_FAMILIES, work_of
from blueprint_nb.calibration.sample import Sample
from blueprint_nb.cost.families import Gemm, Machine
from blueprint_nb.cost.families.row_wise import ROW_WISE
from blueprint_nb.cost.octaves import octave_of
from blueprint_nb.errors import MissingExtraError, UnknownNameError

MACHINE = Machine(compute_units=100, matrix_flops=2e14, bytes_per_second=1e12, l2_bytes=4e7, element_bytes=2)
"""A kernel is bound by its operations from 200 of them a byte."""

FASTER = MACHINE.model_copy(update={"matrix_flops": 8e14, "bytes_per_second": 4e12})
GEMM = Gemm()
ADD = next(family for family in ROW_WISE if family.name == "add")


def shape_of(**shape: Any) -> dict[str, Any]:
    each = [np.atleast_1d(np.asarray(size, dtype=np.int64)) for size in shape.values()]
    return dict(zip(shape, np.broadcast_arrays(*each), strict=True))


def sample(shape: dict[str, Any], seconds: Any, machine: Machine = MACHINE) -> Sample:
    size = next(iter(shape.values()))
    group = np.zeros(len(size), dtype=np.int64)
    return Sample(machine, shape, np.broadcast_to(seconds, group.shape), group, octave_of(size))


def asked(shape: dict[str, Any], machine: Machine = MACHINE) -> Sample:
    return sample(shape, np.nan, machine)


def adds(rows: Any, efficiency: Any, machine: Machine = MACHINE) -> Sample:
    """Rows of 1,024: 6,144 bytes each, at a fraction of the bandwidth."""
    shape = shape_of(rows=rows, width=1024)
    return sample(shape, 6144.0 * shape["rows"] / machine.bytes_per_second / np.asarray(efficiency), machine)


def test_a_gemm_is_bound_by_its_weights_or_by_its_operations():
    """1 × 1,000 × 1,000 moves 2 · 1,002,000 bytes; 10,000 × 1,000 × 1,000 takes 2·10¹⁰ operations."""
    work = work_of("gemm", shape_of(m=[1, 10_000], n=1000, k=1000), MACHINE)
    assert work.bytes[0] == 2 * (1000 * 1000 + 1000 + 1000)
    assert work.operations.tolist() == [2e6, 2e10]
    assert work.is_compute_bound.tolist() == [False, True]
    assert work.roofline_seconds == pytest.approx([2.004e-6, 1e-4])


@pytest.mark.parametrize("family", ROW_WISE, ids=lambda family: family.name)
def test_a_row_moves_the_bytes_that_its_cost_form_counts(family: Any):
    """But for a norm's vectors, which the forms leave out."""
    shape = shape_of(rows=[1000, 70_000], width=[4096, 512])
    moved = work_of(family.name, shape, MACHINE).memory_seconds
    assert moved == pytest.approx(family.prepare(shape, MACHINE).stream_seconds, rel=1e-3)


def test_attention_skips_the_half_that_its_mask_hides():
    """One sequence of 4 tokens and one head of 8: 10 scores of 4 · 8 operations; q, k, v and the result move 128 values."""
    shape = shape_of(batch=1, query_tokens=4, context_tokens=4, heads=1, kv_heads=1, head_size=8)
    work = work_of("attention_prefill", shape, MACHINE)
    assert (work.operations[0], work.bytes[0]) == (10 * 4 * 8, 2 * 4 * 4 * 8)


def test_a_decode_reads_the_context_of_each_sequence_once():
    """Three sequences of 100 tokens; 8 query heads share 2 KV heads of 64."""
    shape = shape_of(batch=3, query_tokens=1, context_tokens=100, heads=8, kv_heads=2, head_size=64)
    work = work_of("attention_decode", shape, MACHINE)
    assert work.operations[0] == 3 * 100 * 8 * 4 * 64
    assert work.bytes[0] == 2 * (2 * 3 * 8 * 64 + 2 * 3 * 100 * 2 * 64)


def test_a_family_without_a_roofline_is_named():
    with pytest.raises(
        UnknownNameError, match=r"^family must be one of 11 known names\. Got 'gem'\. Did you mean gemm\?$"
    ):
        work_of("gem", {}, MACHINE)
    assert "all_reduce" not in WORK_FAMILIES


def test_the_peak_roofline_says_the_same_whatever_was_measured():
    shape = shape_of(rows=[1000], width=1000)
    for learned_from in (adds([10], 0.1), adds([10], 0.9)):
        priced = PeakRoofline().learned(ADD, {"gpu": [learned_from]})
        assert priced("gpu", asked(shape)) == pytest.approx([6e-6])


def test_a_constant_efficiency_is_found_exactly():
    priced = ConstantEfficiency().learned(ADD, {"gpu": [adds([1, 10, 1000, 5000], 0.625)]})
    assert priced("gpu", asked(shape_of(rows=[3], width=100))) == pytest.approx([3 * 600 / 1e12 / 0.625])


def test_a_constant_efficiency_is_the_median_of_its_rows_whatever_their_octave():
    priced = ConstantEfficiency().learned(ADD, {"gpu": [adds([1, 5000, 5001, 5002, 5003], [0.1, 0.5, 0.5, 0.5, 0.7])]})
    assert priced("gpu", asked(shape_of(rows=[1], width=1024))) == pytest.approx([6144 / 1e12 / 0.5])


def test_a_step_curve_has_a_step_for_each_octave_of_bytes_and_takes_the_nearest_beyond_them():
    """2, 3 rows of 6,144 bytes are in the octaves 13 and 14, 1,000 rows in octave 22."""
    priced = StepCurves().learned(ADD, {"gpu": [adds([2, 3, 1000, 1001, 1002], [0.125, 0.25, 0.5, 0.75, 1.0])]})
    shape = shape_of(rows=[2, 3, 1010, 1, 10**6], width=1024)
    expected = 6144 * shape["rows"] / 1e12 / np.array([0.125, 0.25, 0.75, 0.125, 0.75])
    assert priced("gpu", asked(shape)) == pytest.approx(expected)


def test_step_curves_keep_kernels_bound_by_operations_apart_from_those_bound_by_bytes():
    """The same GEMM with 1 row and with 4,096: bytes at a half, operations at a quarter of their peaks."""
    shape = shape_of(m=[1, 4096], n=4096, k=4096)
    roofline = work_of("gemm", shape, MACHINE).roofline_seconds
    priced = StepCurves().learned(GEMM, {"gpu": [sample(shape, roofline * np.array([2.0, 4.0]))]})
    assert priced("gpu", asked(shape)) == pytest.approx(roofline * np.array([2.0, 4.0]))


def test_kernels_of_a_kind_that_nobody_measured_are_on_the_other_curve():
    small, large = shape_of(m=1, n=4096, k=4096), shape_of(m=4096, n=4096, k=4096)
    priced = StepCurves().learned(GEMM, {"gpu": [sample(small, work_of("gemm", small, MACHINE).roofline_seconds * 2)]})
    assert priced("gpu", asked(large)) == pytest.approx(work_of("gemm", large, MACHINE).roofline_seconds * 2)


def test_a_device_is_priced_by_its_own_rows_and_one_never_measured_by_those_of_all():
    training = {"slow": [adds([100, 200, 300], 0.5)], "fast": [adds([100, 200], 0.25, FASTER)]}
    priced = ConstantEfficiency().learned(ADD, training)
    shape = shape_of(rows=[100], width=1024)
    seconds = {name: priced(name, asked(shape, machine))[0] for name, machine in (("slow", MACHINE), ("fast", FASTER))}
    assert seconds["slow"] == pytest.approx(614_400 / 1e12 / 0.5)
    assert seconds["fast"] == pytest.approx(614_400 / 4e12 / 0.25)
    assert priced("new", asked(shape, FASTER)) == pytest.approx([614_400 / 4e12 / 0.5])


@pytest.fixture
def trees() -> Ensemble:
    try:
        import lightgbm  # noqa: F401
    except OSError as error:
        pytest.skip(f"this system lacks a library that lightgbm needs: {error}")
    return Ensemble()


def test_trees_learn_that_efficiency_grows_with_size(trees: Ensemble):
    rows = np.unique(np.geomspace(1, 50_000, 400).astype(np.int64))
    efficiency = 0.9 * rows / (rows + 500.0)
    even, odd = adds(rows[::2], efficiency[::2]), adds(rows[1::2], efficiency[1::2])
    priced = trees.learned(ADD, {"gpu": [even]})
    assert np.abs(priced("gpu", odd) / odd.seconds - 1.0).mean() < 0.05


def test_the_same_rows_give_the_same_trees(trees: Ensemble):
    shape = shape_of(m=np.arange(1, 300), n=4096, k=4096)
    noisy = work_of("gemm", shape, MACHINE).roofline_seconds * (1.5 + np.random.default_rng(0).random(299))
    first, second = (trees.learned(GEMM, {"gpu": [sample(shape, noisy)]}) for _ in range(2))
    assert (first("gpu", asked(shape)) == second("gpu", asked(shape))).all()


def test_trees_without_their_library_say_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(MissingExtraError) as raised:
        Ensemble().learned(ADD, {"gpu": [adds([1], 0.5)]})
    assert str(raised.value) == (
        "boosted trees need lightgbm, which is not installed or can't be loaded. "
        "Run: pip install 'blueprint-nb[test]' (in a checkout: '.[test]'), or leave them out."
    )


def test_the_hardest_bar_comes_last_and_alone_needs_more_than_numpy():
    assert [bar.name for bar in BARS] == ["peak roofline", "constant efficiency", "step curves", "boosted trees"]
    assert BARS[:-1] == PLAIN_BARS
