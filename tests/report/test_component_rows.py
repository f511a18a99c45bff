from __future__ import annotations

import re

import pytest

import blueprint_nb as bp
from blueprint_nb.analysis.bands import band_text
from blueprint_nb.analysis.step import bound_of, step_of
from blueprint_nb.errors import InvalidInputError
from blueprint_nb.report.component_names import component_name
from blueprint_nb.report.component_table import component_table
from blueprint_nb.report.legend import legend
from blueprint_nb.thinning import kept_indices


def test_the_reference_qkv_projection_reads_as_in_the_explorer():
    estimate = bp.estimate("phi-2-dense-mha", "a100_80g", prompt_tokens=128, generated_tokens=64)
    row = next(row for row in component_table(estimate, "decode") if row.component == "QKV projection")
    assert row.executions == "32 × 26.9 µs"
    assert row.why == "39.3 MB at 1.54 TB/s"
    assert (row.bound, row.share) == ("memory", "24.6 %")


def test_work_reads_as_operations_bytes_or_a_message(estimate_of):
    rows = {row.component: row for row in component_table(estimate_of("default"), "prefill")}
    assert rows["QKV projection"].why == "25.8 GFLOP at 900 TFLOP/s + 39.8 MB at 2.30 TB/s"
    assert rows["KV save"].why == "4.19 MB at 1.84 TB/s"
    assert rows["MLP all reduce"].why == "8.39 MB in the box, 2 ranks"


def test_a_named_link_carries_messages_over_it():
    estimate = bp.estimate("llama-3.1-8b", "h100_80g_sxm", mode="peak-only", tensor_parallel=8, generated_tokens=2)
    rows = {row.component: row for row in component_table(estimate, "decode")}
    assert rows["MLP all reduce"].why == "8.19 kB over NVLink 4, 8 ranks"


def test_quantising_is_added_to_a_product_and_is_none_of_its_memory():
    """Prefill of 2,048 tokens in 8 bits over 8 H200: the QKV projection quantises more than it multiplies."""
    estimate = bp.estimate("llama-3.1-8b", "h200_141g_sxm", tensor_parallel=8, prompt_tokens=2048, datatype="float8")
    step = step_of(estimate, "prefill")
    qkv = next(cost for one, cost in step.costs.priced if one.component == "qkv_projection")
    assert qkv.terms["quantise"] > qkv.terms["compute"] > qkv.terms["l2"] > qkv.terms["memory"]
    assert qkv.memory_seconds == qkv.terms["l2"]
    assert qkv.floor_seconds == pytest.approx(qkv.terms["floor"] + qkv.terms["quantise"])
    row = next(row for row in component_table(estimate, "prefill") if row.component == "QKV projection")
    assert row.bound == "floor"
    assert re.fullmatch(r"floor of \d\.\d\d µs and quantising activations 2\d\.\d µs", row.why)


def test_a_calibrated_row_says_its_band_its_set_and_how_it_comes_about(estimate_of):
    estimate = estimate_of("calibrated")
    rows = component_table(estimate, "decode")
    costs = step_of(estimate, "decode").costs
    known = {*estimate.inputs.system.calibrations, "pooled"}
    for row, activity, cost in zip(rows, costs.activity.components, costs.costs, strict=True):
        assert row.band == band_text(cost.band, cost.seconds, activity.executions)
        assert row.source.partition(",")[0] in known
        assert bool(row.explanation) == (cost.seconds > 0)
    qkv = next(row for row in rows if row.component == "QKV projection")
    assert re.fullmatch(r"[\d,]+ CTAs on 132 SMs: \d+ waves?, \d+ % full; \w+ \S+ µs; floor \S+ µs", qkv.explanation)


def test_a_row_whose_time_is_within_anothers_says_so(estimate_of):
    (saved,) = (row for row in component_table(estimate_of("calibrated"), "decode") if row.component == "KV save")
    assert (saved.why, saved.seconds) == ("no time of its own", "0 ns")
    assert saved.source.endswith(", within attention, whose measured calls append")


def test_an_embedding_says_what_takes_longest():
    estimate = bp.estimate("llama-3.1-8b", "a100_80g_pcie", batch_size=8, prompt_tokens=4096, generated_tokens=2)
    (row,) = (row for row in component_table(estimate, "prefill") if row.component == "Embedding")
    assert re.fullmatch(r"\S+ [mµ]s of elements, looked up one by one", row.why)


def test_a_row_that_was_borrowed_or_asked_beyond_its_range_says_so():
    estimate = bp.estimate("llama-3.1-8b", "h100_80g_sxm", batch_size=2**20, generated_tokens=2)
    rows = component_table(estimate, "decode")
    assert any(", outside range: " in row.source for row in rows)
    assert not any("in range" in row.source for row in rows)


def test_a_bound_by_launches_and_waits_has_its_floor_as_the_reason(estimate_of):
    rows = [row for row in component_table(estimate_of("calibrated"), "decode") if row.bound == "floor"]
    assert rows
    assert all(re.fullmatch(r"floor of \S+ [nµm]s", row.why) for row in rows)


def test_an_analytical_row_has_neither_band_nor_source(estimate_of):
    for row in component_table(estimate_of("default"), "decode"):
        assert (row.band, row.source, row.explanation) == ("", "", "")


def test_what_is_asserted_says_by_whom():
    asserted = {"qkv_projection": 20e-6}
    estimate = bp.estimate("llama-3.1-8b", "h100_80g_sxm", generated_tokens=2, asserted=asserted)
    row = next(row for row in component_table(estimate, "decode") if row.component == "QKV projection")
    assert row.executions == "32 × 20.0 µs"
    assert row.source == "user-asserted, by component"
    assert row.explanation == ""


def test_steps_one_at_a_time_are_the_frame_of_all_steps(estimate_of):
    estimate = estimate_of("dense_with_drop")
    frame = estimate.components
    for phase, context in (("prefill", None), ("decode", 65), ("decode", 97), ("decode", 163)):
        step = step_of(estimate, phase, context)
        part = frame.filter((frame["phase"] == phase) & (frame["context_tokens"] == step.context_tokens)).to_dicts()
        pairs = list(zip(step.costs.activity.components, step.costs.costs, strict=True))
        assert [(a.component, c.seconds, a.operations, bound_of(a, c)) for a, c in pairs] == [
            (row["component"], row["seconds"], row["operations"], row["bound"]) for row in part
        ]
        assert step.seconds == pytest.approx(sum(row["seconds"] * row["count"] for row in part), rel=1e-12)


def test_the_last_step_is_what_is_meant_when_no_context_is_given(estimate_of):
    assert step_of(estimate_of("default"), "decode").context_tokens == 1151


def test_a_step_that_is_not_there_is_refused(estimate_of):
    with pytest.raises(InvalidInputError) as caught:
        step_of(estimate_of("default"), "decode", 5)
    assert str(caught.value) == "context_tokens must be a visible context from 1,025 to 1,151. Got 5."


@pytest.mark.parametrize(
    ("component", "name"),
    [
        ("qkv_projection", "QKV projection"),
        ("rope", "RoPE"),
        ("kv_save", "KV save"),
        ("lm_head_all_gather", "LM head all gather"),
        ("post_attention_norm", "Post attention norm"),
    ],
)
def test_components_read_as_people_write_them(component, name):
    assert component_name(component) == name


@pytest.mark.parametrize("count", [1, 2, 12, 13, 500, 501, 100_000])
@pytest.mark.parametrize("logarithmic", [False, True])
def test_thinning_keeps_ends_and_what_must_stay(count, logarithmic):
    always = [index for index in (3, 7, count // 2) if index < count]
    kept = kept_indices(count, 12, always, logarithmic=logarithmic)
    assert kept == sorted(set(kept))
    assert len(kept) <= 12
    assert {0, count - 1, *always} <= set(kept)


def test_thinning_never_passes_its_limit_even_when_more_must_stay():
    assert len(kept_indices(1_000, 10, range(100))) == 10
    assert kept_indices(1_000, 10, range(100))[-1] == 999


def whys(system: str, phase: str, **arguments: int) -> dict[str, str]:
    rows = component_table(bp.estimate("llama-3.1-8b", system, **{"generated_tokens": 2, **arguments}), phase)
    return {row.component: row.why for row in rows}


def test_traffic_above_the_memory_s_rate_is_in_part_from_the_cache():
    # 1,024 tokens of 4,096 elements of 2 B, read twice and written once: 25.2 MB, half of the H100's L2.
    residual = whys("h100_80g_sxm", "prefill")["MLP residual"]
    assert re.fullmatch(r"25\.2 MB at \S+ TB/s, in part from L2", residual)
    assert float(residual.split()[3]) > 3.35


def test_a_fitted_memory_above_its_peak_is_not_called_a_cache():
    # KV of 64 sequences of 1,025 tokens: 269 MB, five times the L2.
    core = whys("h100_80g_sxm", "decode", batch_size=64)["Attention core"]
    assert re.fullmatch(r"\d+ MB at \S+ TB/s, 1\.\d\d of the peak as fitted", core)


@pytest.mark.parametrize("mode", ["peak-only", "system-evidence"])
def test_analytical_traffic_keeps_to_the_memory(mode):
    rows = component_table(bp.estimate("llama-3.1-8b", "h100_80g_nvl8", mode=mode, generated_tokens=2), "prefill")
    assert not any("L2" in row.why or "fitted" in row.why for row in rows)


@pytest.mark.parametrize(
    ("batch", "how"),
    [(1, "a row, part by part"), (132, "rows side by side, part by part"), (133, "rows in turn")],
)
def test_rows_that_take_their_time_by_latency_say_how_they_run(batch, how):
    norm = whys("h100_80g_sxm", "decode", batch_size=batch)["Input norm"]
    assert re.fullmatch(rf"\S+ µs of {how}", norm)


def test_the_legend_tells_the_words_that_the_rows_use():
    rows = component_table(bp.estimate("llama-3.1-8b", "h100_80g_sxm", generated_tokens=2), "prefill")
    assert [word for word, _ in legend(rows)] == ["CTA", "wave", "floor", "L2", "compute of rows"]
    assert legend(row for row in rows if row.component == "KV save") == []
