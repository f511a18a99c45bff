"""The cost forms of kernel families: by hand, and what must hold whatever their parameters are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blueprint_nb.catalog import load_system
from blueprint_nb.cost.evaluation import kernel_times
from blueprint_nb.cost.families import (
    AttentionDecode,
    AttentionPrefill,
    Collective,
    Embedding,
    Family,
    Gemm,
    Link,
    Machine,
    machine_of,
)
from blueprint_nb.cost.families.row_wise import ROW_WISE
from blueprint_nb.cost.families.split_rule import SPLIT_RULES
from blueprint_nb.cost.families.tiling import TILINGS
from blueprint_nb.errors import UnsupportedError

from .forms import A100, machines, seconds, starts, values_of

ROW_FAMILIES = {family.name: family for family in ROW_WISE}
ONE_UNIT = Machine(compute_units=1, matrix_flops=1e12, bytes_per_second=1e15, l2_bytes=1e9, element_bytes=2)


def compute_alone(slowing_fraction: float = 0.0) -> dict[str, float]:
    """Of a GEMM: every fraction 1, nothing to wait for but its operations, and k never split."""
    values = {name: float(name.endswith("_fraction")) for name in starts(Gemm())}
    return values | {"slowing_fraction": slowing_fraction, "reduction_seconds": 1.0, "l2_bandwidth_ratio": 1e9}


class TestGemm:
    @given(values=values_of(Gemm()), machine=machines(), n=st.integers(1, 60_000), k=st.integers(1, 60_000))
    def test_a_gemm_never_takes_less_time_for_more_rows(self, values, machine, n, k):
        rows = np.unique(np.concatenate([np.arange(1, 300), np.geomspace(300, 200_000, 200).astype(np.int64)]))
        taken = seconds(Gemm(), values, machine, m=rows, n=n, k=k)
        assert np.isfinite(taken).all()
        assert (np.diff(taken) >= -1e-12 * taken[1:]).all()

    @given(
        values=values_of(Gemm()),
        machine=machines(),
        m=st.integers(1, 9000),
        n=st.integers(1, 60_000),
        k=st.integers(1, 60_000),
    )
    def test_a_gemm_takes_no_less_than_its_operations_and_its_bytes_at_their_peak(self, values, machine, m, n, k):
        (taken,) = seconds(Gemm(), values, machine, m=m, n=n, k=k)
        highest = {one.name: one.highest for one in Gemm().parameters}
        assert taken >= 2 * m * n * k / machine.matrix_flops
        moved = machine.element_bytes * (m * k + k * n + m * n)
        assert taken >= moved / machine.bytes_per_second / highest["bandwidth_fraction"]

    def test_one_tile_by_hand(self):
        """A tile of 128 × 128 with k = 4096 on a machine of one unit, every fraction 1, nothing else to wait for."""
        (taken,) = seconds(Gemm(), compute_alone(), ONE_UNIT, m=128, n=128, k=4096)
        assert taken == pytest.approx(2 * 128 * 128 * 4096 / 1e12, rel=1e-3)

    def test_clocks_sink_with_work_over_two_doublings_of_100_microseconds(self):
        """128 × 128 × 4096 is 134,217,728 operations; of m, n and k whichever grows."""
        machine = ONE_UNIT.model_copy(update={"matrix_flops": 134_217_728 / 1e-4})
        values = compute_alone(slowing_fraction=0.1)
        along_k = seconds(Gemm(), values, machine, m=128, n=128, k=[2048, 4096, 8192, 16_384, 32_768])
        assert along_k == pytest.approx([0.5e-4, 1e-4, 1.1 * 2e-4, 1.2 * 4e-4, 1.2 * 8e-4], rel=1e-3)
        others = seconds(Gemm(), values, machine, m=[4096, 4096, 256], n=[128, 256, 512], k=[128, 128, 2048])
        assert others == pytest.approx([1e-4, 1.1 * 2e-4, 1.2 * 4e-4], rel=1e-3)

    def test_a_second_wave_is_a_step(self):
        values = starts(Gemm(), wave_smoothness=0.0)
        just_full, one_more = seconds(Gemm(), values, m=[128 * 27, 128 * 27 + 1], n=512, k=65_536)
        assert one_more > 1.1 * just_full

    def test_a_split_fills_units_that_one_tile_a_column_leaves_idle(self):
        values = starts(Gemm())
        whole = Gemm().kernel_time(
            Gemm().prepare({"m": np.array([16]), "n": np.array([512]), "k": np.array([65_536])}, A100), values
        )
        assert whole.terms["split"][0] == values["reduction_seconds"]
        assert whole.counts["ctas"][0] > 8

    def test_terms_explain_the_seconds(self):
        shape = {name: np.array([size]) for name, size in (("m", 4096), ("n", 4096), ("k", 4096))}
        prepared = Gemm().prepare(shape, A100)
        time = Gemm().kernel_time(prepared, starts(Gemm()))
        assert time.seconds == pytest.approx(Gemm().seconds(prepared, starts(Gemm())))
        largest = max(time.terms[name][0] for name in ("compute", "memory", "l2"))
        assert largest < time.seconds[0] - time.terms["floor"][0] <= 3 ** (1 / 3) * largest

    def test_a_row_explains_itself(self):
        words = Gemm().explain({"m": 1, "n": 12_288, "k": 4096}, A100, starts(Gemm()))
        assert words == "192 CTAs on 108 SMs: 2 waves, 89 % full; memory 61.2 µs; floor 2.00 µs"


class TestRowWise:
    @given(data=st.data(), name=st.sampled_from(sorted(ROW_FAMILIES)), machine=machines(), width=st.integers(1, 60_000))
    def test_no_kernel_takes_less_time_for_more_rows(self, data, name, machine, width):
        family = ROW_FAMILIES[name]
        values = data.draw(values_of(family))
        rows = np.unique(np.concatenate([np.arange(1, 400), np.geomspace(400, 10**6, 300).astype(np.int64)]))
        taken = seconds(family, values, machine, rows=rows, width=width)
        assert np.isfinite(taken).all()
        assert (np.diff(taken) >= -1e-12 * taken[1:]).all()

    @given(data=st.data(), name=st.sampled_from(sorted(ROW_FAMILIES)), rows=st.integers(1, 10**5))
    def test_no_kernel_takes_less_time_for_wider_rows(self, data, name, rows):
        family = ROW_FAMILIES[name]
        widths = np.unique(np.geomspace(1, 10**5, 400).astype(np.int64))
        taken = seconds(family, data.draw(values_of(family)), rows=rows, width=widths)
        assert (np.diff(taken) >= -1e-12 * taken[1:]).all()

    @pytest.mark.parametrize(("name", "elements"), [("rms_norm", 2), ("gated_activation", 3), ("add", 3), ("rope", 2)])
    def test_much_work_takes_its_bytes_at_the_bandwidth_reached(self, name: str, elements: int):
        family = ROW_FAMILIES[name]
        values = starts(family, row_seconds=1e-9, chunk_seconds=1e-9, bandwidth_fraction=0.5)
        (taken,) = seconds(family, values, rows=10**6, width=8192)
        assert taken == pytest.approx(elements * 2 * 10**6 * 8192 / (0.5 * 1.935e12), rel=0.01)

    def test_what_the_cache_holds_is_served_faster(self):
        family = ROW_FAMILIES["add"]
        values = starts(family, row_seconds=1e-9, chunk_seconds=1e-9, l2_gain=3.0, floor_seconds=2e-7)
        small, large = seconds(family, values, rows=[200, 20_000], width=8192)
        assert large > 100 * (small - values["floor_seconds"])

    def test_one_row_waits_for_its_chunks(self):
        family = ROW_FAMILIES["gated_activation"]
        values = starts(family, floor_seconds=0.0, row_seconds=0.0, chunk_seconds=1e-6)
        (taken,) = seconds(family, values, rows=1, width=24_576)
        assert taken == pytest.approx(24e-6, rel=1e-3)

    def test_a_row_explains_itself(self):
        words = ROW_FAMILIES["rms_norm"].explain({"rows": 4096, "width": 4096}, A100, starts(ROW_FAMILIES["rms_norm"]))
        assert words == "4,096 rows on 108 SMs: 19 waves 51.2 µs; memory 46.9 µs; floor 1.50 µs"


EVERY_FORM = {
    **{family.name: family for family in (Gemm(), *ROW_WISE, Embedding())},
    "gemm: quantised": Gemm("quantised"),
    **{f"attention_decode: {kernel}": AttentionDecode(kernel) for kernel in SPLIT_RULES},
    **{f"attention_prefill: {kernel}": AttentionPrefill(kernel) for kernel in TILINGS},
    "all_reduce": Collective("all_reduce", Link(bytes_per_second=3e11)),
}


@pytest.mark.parametrize("family", EVERY_FORM.values(), ids=list(EVERY_FORM))
def test_a_family_has_at_most_twenty_parameters_each_with_room_and_a_meaning(family: Family):
    assert len(family.parameters) <= 20
    for one in family.parameters:
        assert one.lowest <= one.start <= one.highest
        assert one.meaning
        assert not one.is_scale or one.lowest > 0


def test_a_machine_is_what_a_systems_profile_says():
    machine = machine_of(load_system("a100_80g_pcie"), "float16")
    assert machine == Machine(
        compute_units=108, matrix_flops=312e12, bytes_per_second=1935e9, l2_bytes=40 * 2**20, element_bytes=2
    )


def test_a_layer_norm_adds_three_figures_up_where_an_rms_norm_adds_one():
    """One row of 512: one chunk of either; 2 µs and a chunk of 1 µs against a row of 0.5 µs, once or three times."""
    values = {one.name: one.start for one in ROW_FAMILIES["rms_norm"].parameters}
    values.update(floor_seconds=2e-6, row_seconds=5e-7, chunk_seconds=1e-6, wave_smoothness=0.0)
    shape = {"rows": np.array([1]), "width": np.array([512])}
    terms = {
        name: kernel_times(ROW_FAMILIES[name], shape, A100, values).terms["waves"]
        for name in ("rms_norm", "layer_norm")
    }
    assert terms["rms_norm"] == pytest.approx(1.5e-6)
    assert terms["layer_norm"] == pytest.approx(2.5e-6)


def test_a_system_without_compute_units_is_refused_by_name():
    with pytest.raises(UnsupportedError) as caught:
        machine_of(load_system("a100_80g"), "float16")
    assert str(caught.value) == (
        "a100_80g must give compute_units and l2_cache_mib to be priced by its own figures in the mode calibrated. "
        "Got float16 and a profile without compute_units and l2_cache_mib. Use another mode."
    )
