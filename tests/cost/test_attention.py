"""The cost forms of attention: by hand, and what must hold whatever their parameters are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from blueprint_nb.calibration.errors import Judged, error_figures
from blueprint_nb.calibration.fit import fit
from blueprint_nb.calibration.observed import samples_of
from blueprint_nb.cost.families import AttentionDecode, AttentionPrefill, Family, Machine
from blueprint_nb.cost.families.split_rule import SPLIT_RULES, split_runs
from blueprint_nb.cost.families.tiling import TILINGS
from blueprint_nb.errors import UnknownNameError
from blueprint_nb.evidence.vidur import VidurProfileImporter

from .forms import A100, arrays, machines, never_falls, seconds, starts, values_of

LONG = 131_072
ONE_UNIT = Machine(compute_units=1, matrix_flops=1e12, bytes_per_second=1e9, l2_bytes=1e6, element_bytes=2)
LLAMA = {"heads": 32, "kv_heads": 8, "head_size": 128}


def up_to(highest: int, each: int = 300) -> Any:
    """Every count up to `each`, and some up to `highest`."""
    spread = np.geomspace(each, highest, 200).astype(np.int64)
    return np.unique(np.concatenate([np.arange(1, each), spread, spread + 1]))


@st.composite
def head_shapes(draw: st.DrawFn) -> dict[str, int]:
    kv_heads = draw(st.integers(1, 16))
    group = draw(st.sampled_from([1, 2, 3, 4, 5, 8, 16, 71]))
    size = draw(st.sampled_from([32, 64, 80, 96, 128, 192, 256, 512]))
    return {"heads": kv_heads * group, "kv_heads": kv_heads, "head_size": size}


def decode_kernels() -> st.SearchStrategy[AttentionDecode]:
    return st.builds(AttentionDecode, st.sampled_from(sorted(SPLIT_RULES)), cold_cache=st.booleans())


def prefill_kernels() -> st.SearchStrategy[AttentionPrefill]:
    return st.builds(AttentionPrefill, st.sampled_from(sorted(TILINGS)))


class TestDecode:
    @given(st.data(), decode_kernels(), machines(), head_shapes(), st.integers(1, 600))
    def test_never_takes_less_time_for_more_context(self, data, kernel, machine, heads, batch):
        values = data.draw(values_of(kernel))
        assert never_falls(
            seconds(kernel, values, machine, batch=batch, query_tokens=1, context_tokens=up_to(2 * LONG, 1500), **heads)
        )

    @given(st.data(), decode_kernels(), machines(), head_shapes(), st.integers(1, LONG))
    def test_never_takes_less_time_for_more_sequences(self, data, kernel, machine, heads, context):
        values = data.draw(values_of(kernel))
        assert never_falls(
            seconds(kernel, values, machine, batch=up_to(5000), query_tokens=1, context_tokens=context, **heads)
        )

    @given(st.data(), decode_kernels(), machines(), head_shapes(), st.integers(1, 600), st.integers(700, LONG))
    def test_never_takes_less_time_for_more_queries(self, data, kernel, machine, heads, batch, context):
        values = data.draw(values_of(kernel))
        assert never_falls(
            seconds(kernel, values, machine, batch=batch, query_tokens=up_to(699), context_tokens=context, **heads)
        )

    @given(st.data(), decode_kernels(), machines(), head_shapes(), st.integers(1, 600), st.integers(1, LONG))
    def test_takes_no_less_than_its_operations_and_bytes_at_their_peak(
        self, data, kernel, machine, heads, batch, context
    ):
        cold = AttentionDecode(kernel.kernel, cold_cache=True)
        values = data.draw(values_of(cold))
        shape = {"batch": batch, "query_tokens": 1, "context_tokens": context, **heads}
        (taken,) = seconds(cold, values, machine, **shape)
        operations = 4.0 * batch * context * heads["heads"] * heads["head_size"]
        moved = 2.0 * machine.element_bytes * batch * context * heads["kv_heads"] * heads["head_size"]
        assert taken >= operations / machine.matrix_flops
        assert taken >= moved / machine.bytes_per_second / values["bandwidth_fraction"]
        assert taken >= seconds(AttentionDecode(kernel.kernel), values, machine, **shape)[0] * (1 - 1e-12)

    def test_one_head_by_hand(self):
        """Ten blocks of 64 KiB on a machine of one unit: the chain and the memory both take the bytes' time."""
        kernel = AttentionDecode("flash_attention_2", cold_cache=True)
        values = dict.fromkeys(starts(kernel), 0.0) | {
            "block_traffic_ratio": 1.0,
            "pair_ratio": 1.0,
            "bandwidth_fraction": 1.0,
            "compute_fraction": 1e9,
            "l2_gain": 1.0,
            "l2_share": 1.0,
            "l2_steepness": 1.0,
        }
        shape = {"batch": 1, "query_tokens": 1, "context_tokens": 1280, "heads": 1, "kv_heads": 1, "head_size": 128}
        (taken,) = seconds(kernel, values, ONE_UNIT, **shape)
        assert taken == pytest.approx(np.cbrt(2) * 10 * 65_536 / 1e9)

    @pytest.mark.parametrize(("heads", "is_split"), [(8, False), (32, True)])
    def test_flash_attention_2_splits_only_where_query_heads_are_packed(self, heads: int, is_split: bool):
        kernel = AttentionDecode("flash_attention_2")
        shape = {"batch": 1, "query_tokens": 1, "context_tokens": LONG, "kv_heads": 8, "head_size": 128}
        time = kernel.kernel_time(kernel.prepare(arrays(kernel, heads=heads, **shape), A100), starts(kernel))
        assert (time.counts["splits"][0] > 1) == is_split

    def test_query_heads_of_one_kv_head_share_a_tile(self):
        kernel = AttentionDecode("generic", cold_cache=True)
        shape = {"batch": 64, "query_tokens": 1, "context_tokens": 8192, "head_size": 128}
        alone, packed, apart = seconds(kernel, starts(kernel), heads=[8, 32, 32], kv_heads=[8, 8, 32], **shape)
        assert packed < 1.05 * alone
        assert apart > 3 * alone

    def test_what_a_launch_before_left_in_the_cache_is_served_faster(self):
        shape = {"batch": 8, "query_tokens": 1, "context_tokens": 512, **LLAMA}
        warm, cold = (AttentionDecode("flash_attention_3", cold_cache=cold) for cold in (False, True))
        assert seconds(warm, starts(warm), **shape)[0] < seconds(cold, starts(cold), **shape)[0]

    @pytest.mark.parametrize("name", sorted(SPLIT_RULES))
    def test_terms_explain_the_seconds(self, name: str):
        kernel = AttentionDecode(name)
        values = starts(kernel) | ({"envelope_fraction": 0.0} if SPLIT_RULES[name].capacity_tokens else {})
        prepared = kernel.prepare(
            arrays(kernel, batch=[1, 8, 64], query_tokens=1, context_tokens=[100, 4000, 30_000], **LLAMA), A100
        )
        time = kernel.kernel_time(prepared, values)
        assert time.seconds == pytest.approx(kernel.seconds(prepared, values))
        overlapped = time.seconds - sum(time.terms.get(one, 0.0) for one in ("floor", "scan", "layout", "split"))
        largest = np.max([time.terms[one] for one in ("chain", "memory", "compute")], axis=0)
        assert (largest <= overlapped * (1 + 1e-9)).all()
        assert (overlapped <= np.cbrt(3) * largest * (1 + 1e-9)).all()

    def test_an_erratic_rule_is_priced_between_its_envelopes(self):
        kernel = AttentionDecode("flash_attention_2_kvcache")
        shape = {
            "batch": np.arange(1, 65),
            "query_tokens": 1,
            "context_tokens": 4000,
            "heads": 32,
            "kv_heads": 4,
            "head_size": 128,
        }
        low, middle, high = (
            seconds(kernel, starts(kernel, envelope_fraction=fraction), **shape) for fraction in (0.0, 0.5, 1.0)
        )
        assert (low <= middle).all()
        assert (middle <= high).all()
        assert (low < 0.98 * high).any()

    def test_the_published_rule_is_erratic(self):
        first, last, counts = split_runs(108, 32)
        assert (first[1:] == last[:-1] + 1).all()
        assert (np.diff(counts) > 0).any()
        assert counts[-1] == 1

    def test_a_row_explains_itself(self):
        kernel = AttentionDecode("flash_attention_2")
        shape = {"batch": 4, "query_tokens": 1, "context_tokens": 8192, **LLAMA}
        words = kernel.explain(shape, A100, starts(kernel))
        assert words == "192 CTAs on 108 SMs, KV in 6 parts: 2 waves; memory 81.6 µs; floor 6.00 µs"


class TestPrefill:
    @given(st.data(), prefill_kernels(), machines(), head_shapes(), st.integers(1, 40), st.integers(1, 2000))
    def test_never_takes_less_time_for_more_context(self, data, kernel, machine, heads, batch, queries):
        values = data.draw(values_of(kernel))
        contexts = queries - 1 + up_to(LONG, 1000)
        assert never_falls(
            seconds(kernel, values, machine, batch=batch, query_tokens=queries, context_tokens=contexts, **heads)
        )

    @given(st.data(), prefill_kernels(), machines(), head_shapes(), st.integers(1, 40), st.integers(8193, LONG))
    def test_never_takes_less_time_for_more_queries_of_one_context(self, data, kernel, machine, heads, batch, context):
        values = data.draw(values_of(kernel))
        queries = up_to(8192, 1000)
        assert never_falls(
            seconds(kernel, values, machine, batch=batch, query_tokens=queries, context_tokens=context, **heads)
        )

    @given(st.data(), prefill_kernels(), machines(), head_shapes(), st.integers(1, 40), st.integers(0, LONG))
    def test_never_takes_less_time_for_more_queries_after_one_past(self, data, kernel, machine, heads, batch, past):
        values = data.draw(values_of(kernel))
        queries = up_to(LONG, 1000)
        assert never_falls(
            seconds(kernel, values, machine, batch=batch, query_tokens=queries, context_tokens=past + queries, **heads)
        )

    @given(st.data(), prefill_kernels(), machines(), head_shapes(), st.integers(1, 9000), st.integers(0, LONG))
    def test_never_takes_less_time_for_more_sequences(self, data, kernel, machine, heads, queries, past):
        values = data.draw(values_of(kernel))
        shape = {"query_tokens": queries, "context_tokens": past + queries, **heads}
        assert never_falls(seconds(kernel, values, machine, batch=up_to(2000), **shape))

    @given(st.data(), prefill_kernels(), machines(), head_shapes(), st.integers(1, 9000), st.integers(0, LONG))
    def test_takes_no_less_than_its_causal_operations_and_its_bytes_at_their_peak(
        self, data, kernel, machine, heads, queries, past
    ):
        values = data.draw(values_of(kernel)) | {"l2_gain": 1.0}
        (taken,) = seconds(
            kernel, values, machine, batch=1, query_tokens=queries, context_tokens=past + queries, **heads
        )
        scores = queries * past + queries * (queries + 1) / 2
        moved = 2.0 * machine.element_bytes * (past + queries) * heads["kv_heads"] * heads["head_size"]
        assert taken >= 4.0 * scores * heads["heads"] * heads["head_size"] / machine.matrix_flops
        assert taken >= moved / machine.bytes_per_second / values["bandwidth_fraction"]

    def test_one_tile_by_hand(self):
        """64 queries on a machine of one unit: 1 + ¼ blocks of 128, once as the longest and once as all tiles."""
        kernel = AttentionPrefill("flash_attention_2")
        machine = ONE_UNIT.model_copy(update={"bytes_per_second": 1e18})
        values = dict.fromkeys(starts(kernel), 1.0) | {
            name: 0.0
            for name in starts(kernel)
            if name.endswith("_seconds") or name in ("softmax_flops", "tail_fraction")
        }
        shape = {"batch": 1, "query_tokens": 64, "context_tokens": 128, "heads": 1, "kv_heads": 1, "head_size": 128}
        (taken,) = seconds(kernel, values, machine, **shape)
        assert taken == pytest.approx(2 * 1.25 * 4 * 64 * 128 * 128 / 1e12, rel=1e-6)

    def test_much_work_takes_its_causal_triangle(self):
        kernel = AttentionPrefill("flash_attention_2")
        values = starts(kernel, compute_fraction=0.5, softmax_flops=0.5, pair_ratio=2.0, overlap_exponent=8.0)
        shape = {"batch": 4, "query_tokens": 32_768, "context_tokens": 32_768, **LLAMA}
        (taken,) = seconds(kernel, values, **shape)
        operations = 4 * 4 * 32 * 128 * 32_768 * 32_769 / 2
        assert taken == pytest.approx(operations / (0.5 * 312e12), rel=0.03)

    def test_the_append_of_new_tokens_by_hand(self):
        """512 tokens on one unit, 1 µs each; their KV of 2 · 8 heads · 128 · 2 bytes read and written at 1 GB/s, of
        which the cache, filled 4.2 times over, serves 1 / (1 + 4.2⁴) at once.
        """
        kernel = AttentionPrefill("flash_attention_2")
        values = starts(kernel, append_token_seconds=1e-6, append_traffic_ratio=1.0, l2_gain=1e9, l2_share=1.0)
        shape = {"batch": 1, "query_tokens": 512, "context_tokens": 4096, **LLAMA}
        time = kernel.kernel_time(kernel.prepare(arrays(kernel, **shape), ONE_UNIT), values)
        moved = 2 * 2 * 8 * 128 * 2 * 512
        assert time.terms["append"] == pytest.approx(512e-6 + moved / 1e9 * (1 - 1 / (1 + (moved / 1e6) ** 4)))

    @pytest.mark.parametrize("name", sorted(TILINGS))
    def test_terms_explain_the_seconds(self, name: str):
        kernel = AttentionPrefill(name)
        prepared = kernel.prepare(
            arrays(kernel, batch=[1, 2, 16], query_tokens=[16, 512, 2048], context_tokens=[16, 4096, 2048], **LLAMA),
            A100,
        )
        values = starts(kernel)
        time = kernel.kernel_time(prepared, values)
        assert time.seconds == pytest.approx(kernel.seconds(prepared, values))
        overlapped = time.seconds - sum(time.terms[one] for one in ("floor", "append", "split"))
        largest = np.max([time.terms[one] for one in ("longest", "tiles", "memory")], axis=0)
        assert (largest <= overlapped * (1 + 1e-9)).all()
        assert (overlapped <= 3 * largest).all()

    def test_a_row_explains_itself(self):
        kernel = AttentionPrefill("flash_attention_2")
        shape = {"batch": 1, "query_tokens": 512, "context_tokens": 4096, **LLAMA}
        words = kernel.explain(shape, A100, starts(kernel))
        assert words == "256 CTAs on 108 SMs: 3 waves; tiles 173 µs; append 1.56 µs; floor 6.00 µs"


def test_a_kernel_that_nobody_knows_is_refused():
    with pytest.raises(UnknownNameError) as caught:
        AttentionDecode("triton")
    assert str(caught.value) == (
        "kernel must be flash_attention_2, flash_attention_2_kvcache, flash_attention_3, flash_attention_3_dynamic, flash_attention_3_sm80 or generic. Got 'triton'."
    )
    with pytest.raises(UnknownNameError, match="Did you mean flash_attention_3"):
        AttentionPrefill("flash_attention_3_dynamics")


@pytest.mark.parametrize(
    "family",
    [AttentionDecode("flash_attention_2_kvcache"), AttentionPrefill("flash_attention_2_kvcache")],
    ids=lambda family: family.name,
)
def test_the_form_fits_what_vidur_measured(vidur_data: Path, family: Family):
    """In sample, on a few hundred rows: balanced error in percent."""
    importer = VidurProfileImporter(source_revision="7d47513363ec447a741ac5e47241580b47724fbf")
    path = vidur_data / "profiling" / "attention" / "a100" / "attention.csv"
    (sample,) = samples_of(importer.read(path, "attention", target="a100").observations, family)
    thin = sample.thinned(300, seed=1)
    judged = Judged.of(family, [thin], fit(family, [thin], evaluations=12).values)
    assert error_figures(judged).balanced_mape_percent < 12
