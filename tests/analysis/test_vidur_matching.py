"""Matching the components of a finished plan with the rows of a profile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from vidur_profiles import ATTENTION, COMPUTE, MESSAGE, baseline, case, mapped, times, write

from blueprint_nb.analysis import VidurReference, load_slice, lower
from blueprint_nb.analysis.oracle import ReadCount
from blueprint_nb.analysis.vidur import Subject
from blueprint_nb.catalog import load_model, load_system
from blueprint_nb.evidence.vidur import KINDS
from blueprint_nb.ir import PortablePlanIR
from blueprint_nb.mapping import NetworkTierBinding
from blueprint_nb.validation import VidurExperimentCase
from blueprint_nb.validation.freeze import freeze
from blueprint_nb.workload import SequenceGroup, WorkloadBinding

ALL_COMPUTE = KINDS["compute"].operators
TIMES = {**times(*ALL_COMPUTE), **times("attn_pre_proj", "mlp_up_proj", "mlp_down_proj", "attn_post_proj", ms=0.15)}


@pytest.fixture
def compute(tmp_path: Path) -> Path:
    return write(tmp_path / "mlp.csv", [{**COMPUTE, **TIMES}])


@pytest.fixture
def attention(tmp_path: Path) -> Path:
    return write(tmp_path / "attention.csv", [{**ATTENTION, **times("attn_decode", "attn_kv_cache_save")}])


def subject_of(one: VidurExperimentCase) -> Subject:
    return freeze([one], ReadCount()).cases[0].subject


def references(oracle: Any, one: VidurExperimentCase) -> dict[str, VidurReference]:
    return {reference.component: reference for reference in oracle.references(subject_of(one))}


def test_all_ten_columns_and_the_attention_columns_have_a_component(compute: Path, attention: Path):
    found = references(baseline(compute_csv=compute, attention_csv=attention), case())
    assert {one.operator for one in found.values() if one.is_matched} == {
        *ALL_COMPUTE,
        "attn_decode",
        "attn_kv_cache_save",
    }
    reasons = {name: one.reason for name, one in found.items() if not one.is_matched}
    assert reasons == {
        "attention_residual": "refused by policy: Vidur's one `add` stands for the last residual add only",
        "final_norm": "no column: Vidur does not time it",
        "lm_head": "no column: Vidur does not time it",
    }


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"model": "mistral-7b"}, "other model: the profile is of meta-llama/Llama-2-7b-hf, not of mistral-7b"),
        ({"hardware": "h100_80g_nvl8"}, "other hardware: measured on a100, which does not stand for h100_80g_nvl8"),
        ({"hardware": "a100_80g_sxm"}, "other hardware: measured on a100, which does not stand for a100_80g_sxm"),
        (
            {"hardware": "a100_80g_sxm", "datatype": "bfloat16"},
            "other datatype: the profile is in float16, not in bfloat16",
        ),
        ({"batch_size": 2}, "no row: mlp.csv has none with num_tokens 2"),
        ({"mapping": mapped(2)}, "no row: mlp.csv has none with num_tensor_parallel_workers 2"),
    ],
)
def test_another_model_machine_datatype_batch_or_tp_matches_nothing(
    compute: Path, changes: dict[str, Any], reason: str
):
    assert references(baseline(compute_csv=compute), case(**changes))["mlp_up"].reason == reason


@pytest.mark.parametrize(
    ("column", "value"),
    [("n_embd", 8192), ("n_expanded_embd", 11009), ("n_head", 64), ("n_kv_head", 8), ("use_gated_mlp", False)],
)
def test_every_dimension_of_a_compute_row_has_to_match(tmp_path: Path, column: str, value: Any):
    path = write(tmp_path / "mlp.csv", [{**COMPUTE, **TIMES, column: value}])
    assert references(baseline(compute_csv=path), case())["mlp_up"].state == "not-covered"


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("n_embd", 8192),
        ("n_q_head", 64),
        ("n_kv_head", 8),
        ("block_size", 32),
        ("num_tensor_parallel_workers", 2),
        ("max_model_len", 128),
        ("batch_size", 2),
        ("prefill_chunk_size", 1),
        ("kv_cache_size", 129),
        ("is_prefill", True),
        ("attention_backend", "AttentionBackend.FLASHINFER"),
    ],
)
def test_every_dimension_of_an_attention_row_has_to_match(tmp_path: Path, column: str, value: Any):
    rows = [{**ATTENTION, **times("attn_decode", "attn_prefill"), column: value}]
    path = write(tmp_path / "attention.csv", rows)
    assert references(baseline(attention_csv=path), case())["attention_core"].state == "not-covered"


def test_a_row_measured_up_to_a_shorter_context_says_so(tmp_path: Path):
    path = write(tmp_path / "attention.csv", [{**ATTENTION, **times("attn_decode"), "max_model_len": 128}])
    expected = "no row: attention.csv measured up to max_model_len 128, the context is 129"
    assert references(baseline(attention_csv=path), case())["attention_core"].reason == expected


def test_the_cache_of_a_decode_step_is_one_short_of_its_context(attention: Path):
    oracle = baseline(attention_csv=attention)
    assert references(oracle, case(context_tokens=129))["attention_core"].is_matched
    expected = "no row: attention.csv has none with kv_cache_size 129"
    assert references(oracle, case(context_tokens=130))["attention_core"].reason == expected


def test_a_prefill_is_a_chunk_of_all_its_tokens_upon_an_empty_cache(tmp_path: Path):
    row = {**ATTENTION, "is_prefill": True, "prefill_chunk_size": 64, "kv_cache_size": 0, **times("attn_prefill")}
    oracle = baseline(attention_csv=write(tmp_path / "attention.csv", [row]))
    assert references(oracle, case(phase="prefill", context_tokens=64))["attention_core"].is_matched
    assert not references(oracle, case(phase="prefill", context_tokens=65))["attention_core"].is_matched


def test_the_tokens_of_a_prefill_are_batch_times_prompt(tmp_path: Path):
    oracle = baseline(compute_csv=write(tmp_path / "mlp.csv", [{**COMPUTE, **TIMES, "num_tokens": 96}]))
    one = case(phase="prefill", context_tokens=32, batch_size=3)
    assert references(oracle, one)["mlp_up"].is_matched


def test_a_chunk_sees_what_was_cached_before_it(tmp_path: Path):
    row = {**ATTENTION, "is_prefill": True, "prefill_chunk_size": 64, "kv_cache_size": 192, **times("attn_prefill")}
    oracle = baseline(attention_csv=write(tmp_path / "attention.csv", [row]))
    assert _of_groups(oracle, SequenceGroup(query_tokens=64, context_tokens=256, count=1)).is_matched


def test_a_mixed_step_is_in_no_profile(attention: Path):
    oracle = baseline(attention_csv=attention)
    groups = [SequenceGroup(query_tokens=q, context_tokens=129, count=1) for q in (1, 8)]
    assert _of_groups(oracle, *groups).reason == "no row: profiles have steps of one kind of sequence only"


def _of_groups(oracle: Any, *groups: SequenceGroup) -> VidurReference:
    one = case()
    lowered = lower(one.model, one.mapping, one.datatype, "flash")
    plan = PortablePlanIR(template=lowered.plan, workload=WorkloadBinding(groups=groups, datatype="float16"))
    subject = Subject(
        model=one.model,
        mapping=one.mapping,
        network=one.network_binding,
        system=one.hardware,
        plan=lowered.implementation.bind(plan),
    )
    return {one.component: one for one in oracle.references(subject)}["attention_core"]


def test_a_kernel_that_may_append_to_the_cache_says_so(tmp_path: Path):
    path = write(tmp_path / "attention.csv", [{**ATTENTION, **times("attn_decode")}])
    reference = references(baseline(attention_csv=path), case())["attention_core"]
    assert reference.note == "attention.csv has no attn_kv_cache_save: the append may be timed within"


class TestTopology:
    def test_a_serial_model_refuses_a_file_of_parallel_residuals(self, tmp_path: Path):
        without = {name: value for name, value in TIMES.items() if "post_attention" not in name}
        oracle = baseline(compute_csv=write(tmp_path / "mlp.csv", [{**COMPUTE, **without}]))
        found = references(oracle, case())
        assert {one.state for one in found.values()} == {"not-covered"}
        assert found["mlp_up"].reason == (
            "other topology: mlp.csv has no post_attention_layernorm, as of parallel residuals, and llama-2-7b is serial"
        )

    def test_a_column_that_is_empty_is_none(self, tmp_path: Path):
        empty = {**TIMES, "time_stats.post_attention_layernorm.median": ""}
        oracle = baseline(compute_csv=write(tmp_path / "mlp.csv", [{**COMPUTE, **empty}]))
        assert references(oracle, case())["mlp_up"].reason.startswith("other topology")

    def test_rows_of_another_block_say_nothing_of_this_one(self, tmp_path: Path):
        phi = {**COMPUTE, "n_embd": 2560, "n_expanded_embd": 10240, "use_gated_mlp": False}
        rows = [{**phi, **times("input_layernorm", "add")}, {**COMPUTE, **TIMES}]
        for chosen in (rows, rows[:1]):
            oracle = baseline(compute_csv=write(tmp_path / "mlp.csv", chosen), model_name="microsoft/phi-2")
            assert references(oracle, case(model="phi-2"))["input_norm"].is_matched

    def test_a_norm_in_a_wrong_unit_is_a_norm_all_the_same(self, tmp_path: Path):
        wrong = {**TIMES, "time_stats.post_attention_layernorm.median": 9000}
        found = references(baseline(compute_csv=write(tmp_path / "mlp.csv", [{**COMPUTE, **wrong}])), case())
        assert found["mlp_up"].is_matched
        assert "line 2" in found["post_attention_norm"].reason

    def test_a_parallel_model_refuses_a_file_of_serial_residuals(self, tmp_path: Path):
        row = {**COMPUTE, **TIMES, "n_embd": 2560, "n_expanded_embd": 10240, "use_gated_mlp": False}
        oracle = baseline(compute_csv=write(tmp_path / "mlp.csv", [row]), model_name="microsoft/phi-2")
        assert references(oracle, case(model="phi-2"))["mlp_up"].reason == (
            "other topology: mlp.csv has a post_attention_layernorm, as of serial residuals, "
            "and those of phi-2 are parallel"
        )

    def test_the_reference_template_is_compared_whatever_the_topology(self):
        found = references(load_slice(), case(model="phi-2-dense-mha"))
        assert sum(one.is_matched for one in found.values()) == 9

    def test_the_real_phi_2_has_all_but_its_partial_rope(self):
        found = references(load_slice(), case(model="phi-2"))
        assert found["mlp_up"].is_matched
        assert found["rope"].reason == (
            "refused by policy: Vidur's RoPE rotates whole heads, and phi-2 rotates 32 of 80 elements"
        )
        assert found["branch_add"].is_matched

    def test_a_shell_of_keys_covers_nothing_and_is_no_other_topology(self, tmp_path: Path):
        oracle = baseline(compute_csv=write(tmp_path / "mlp.csv", [COMPUTE]))
        assert references(oracle, case())["mlp_up"].reason == (
            "no column: mlp.csv has no time_stats.mlp_up_proj.median"
        )


HALF = "half of `add`, which times both adds of a parallel block"


PARALLEL = {**COMPUTE, "n_embd": 2560, "n_expanded_embd": 10240, "use_gated_mlp": False}


class TestParallelAdds:
    def found(self, tmp_path: Path, *ms: float, tokens: int = 1) -> list[VidurReference]:
        rows = [{**PARALLEL, "num_tokens": tokens, **times("input_layernorm"), **times("add", ms=one)} for one in ms]
        oracle = baseline(compute_csv=write(tmp_path / "mlp.csv", rows), model_name="microsoft/phi-2")
        found = references(oracle, case(model="phi-2", batch_size=tokens))
        return [found["branch_add"], found["mlp_residual"]]

    def test_both_adds_have_half_of_the_time_that_they_took_together(self):
        found = references(load_slice(), case(model="phi-2"))
        for component in ("branch_add", "mlp_residual"):
            one = found[component]
            assert (one.state, one.operator, one.seconds, one.note) == ("matched", "add", 2e-06, HALF)

    def test_the_median_and_the_spread_are_halved_and_the_rows_are_all_counted(self, tmp_path: Path):
        for one in self.found(tmp_path, 0.004, 0.006, 0.005):
            assert (one.seconds, one.samples) == (2.5e-06, 3)
            assert one.spread_seconds == pytest.approx(1e-06)

    def test_a_block_with_serial_residuals_keeps_the_whole_time_of_its_last_add(self, compute: Path):
        found = references(baseline(compute_csv=compute), case())
        assert (found["mlp_residual"].seconds, found["mlp_residual"].note) == (1e-05, "")
        assert not found["attention_residual"].is_matched

    def test_the_reference_template_keeps_the_whole_time_too(self):
        found = references(load_slice(), case(model="phi-2-dense-mha"))
        assert (found["mlp_residual"].seconds, found["mlp_residual"].note) == (4e-06, "")
        assert not found["attention_residual"].is_matched

    def test_the_half_is_judged_by_the_work_of_one_add(self, tmp_path: Path):
        # 3 · 4096 tokens · 2560 · 2 B = 62.9 MB take 30.7 µs at 2048 GB/s: two adds take 61.4 µs.
        for one in self.found(tmp_path, 0.05, tokens=4096):
            assert one.is_matched
            assert one.note == f"{HALF}; 2.52 TB/s, more than the HBM of a100_80g gives: read from a cache"
        for one in self.found(tmp_path, 0.07, tokens=4096):
            assert (one.is_matched, one.note) == (True, HALF)

    def test_a_half_that_physics_rules_out_is_flagged_and_says_what_it_is_of(self, tmp_path: Path):
        for one in self.found(tmp_path, 4.0):
            assert (one.state, one.note) == ("flagged", HALF)
            assert one.reason.startswith("ruled out by physics: 2.00 ms for 15.4 kB is")

    def test_an_add_that_nobody_timed_covers_neither(self, tmp_path: Path):
        rows = [{**PARALLEL, **times("input_layernorm")}]
        oracle = baseline(compute_csv=write(tmp_path / "mlp.csv", rows), model_name="microsoft/phi-2")
        found = references(oracle, case(model="phi-2"))
        for component in ("branch_add", "mlp_residual"):
            assert found[component].reason == "no column: mlp.csv has no time_stats.add.median"
            assert found[component].note == ""


class TestCollectives:
    def row(self, **changes: Any) -> dict[str, Any]:
        return {**MESSAGE, "size": 2_097_152, **times("all_reduce", ms=0.05), **changes}

    def test_an_all_reduce_is_matched_by_bytes_ranks_and_box(self, tmp_path: Path):
        # 256 tokens · 4096 · 2 B = 2 MiB.
        oracle = baseline(all_reduce_csv=write(tmp_path / "all_reduce.csv", [self.row()]))
        found = references(oracle, case(mapping=mapped(2), batch_size=256))
        for component in ("attention_all_reduce", "mlp_all_reduce", "embedding_all_reduce"):
            assert (found[component].state, found[component].seconds) == ("matched", 5e-05)

    @pytest.mark.parametrize(
        "changes", [{"size": 2_097_153}, {"num_workers": 4, "devices_per_node": 4}, {"devices_per_node": 1}]
    )
    def test_other_bytes_ranks_or_boxes_match_nothing(self, tmp_path: Path, changes: dict[str, int]):
        oracle = baseline(all_reduce_csv=write(tmp_path / "all_reduce.csv", [self.row(**changes)]))
        found = references(oracle, case(mapping=mapped(2), batch_size=256))
        assert found["mlp_all_reduce"].state == "not-covered"

    @pytest.mark.parametrize(("ranks", "in_each"), [(2, 1), (8, 1), (16, 8)])
    def test_a_group_beyond_the_box_has_one_device_in_each_or_fills_them(
        self, tmp_path: Path, ranks: int, in_each: int
    ):
        rows = [self.row(num_workers=ranks, devices_per_node=in_each)]
        oracle = baseline(all_reduce_csv=write(tmp_path / "all_reduce.csv", rows))
        between = NetworkTierBinding(tensor_parallel_network=1)
        found = references(oracle, case(mapping=mapped(ranks), batch_size=256, network_binding=between))
        assert found["mlp_all_reduce"].is_matched

    def test_a_hop_is_a_send(self, tmp_path: Path):
        row = {**MESSAGE, "size": 2_097_152, "collective": "send_recv", **times("send_recv", ms=0.02)}
        oracle = baseline(send_recv_csv=write(tmp_path / "send_recv.csv", [row]))
        found = references(oracle, case(mapping=mapped(1, 2), batch_size=256))
        assert (found["pipeline_send"].state, found["pipeline_send"].seconds) == ("matched", 2e-05)

    def test_the_network_is_another_machine_than_the_card(self, tmp_path: Path):
        path = write(tmp_path / "all_reduce.csv", [self.row()])
        oracle = baseline(all_reduce_csv=path, network_name="a100_dgx")
        sxm = case(mapping=mapped(2), batch_size=256, hardware="a100_80g_sxm")
        pcie = case(mapping=mapped(2), batch_size=256, hardware="a100_80g_pcie")
        assert references(oracle, sxm)["mlp_all_reduce"].is_matched
        assert references(oracle, pcie)["mlp_all_reduce"].reason == (
            "other hardware: timed on a100_dgx, whose network does not stand for that of a100_80g_pcie"
        )


@pytest.mark.parametrize("tier", [0, 1])
def test_a_bridge_is_within_the_box(tmp_path: Path, tier: int):
    row = {**MESSAGE, "size": 2_097_152, **times("all_reduce", ms=0.1)}
    oracle = baseline(all_reduce_csv=write(tmp_path / "all_reduce.csv", [row]), hardware_name="a40")
    one = case(
        hardware="a40_48g",
        mapping=mapped(2),
        batch_size=256,
        network_binding=NetworkTierBinding(tensor_parallel_network=tier),
    )
    assert references(oracle, one)["mlp_all_reduce"].is_matched


def test_repeated_kv_heads_are_in_no_profile(tmp_path: Path):
    row = {**COMPUTE, **TIMES, "n_embd": 8192, "n_expanded_embd": 22016, "n_head": 64, "n_kv_head": 8}
    oracle = baseline(
        compute_csv=write(tmp_path / "mlp.csv", [{**row, "num_tensor_parallel_workers": 16}]),
        model_name="codellama-34b",
    )
    between = NetworkTierBinding(tensor_parallel_network=1)
    found = references(oracle, case(model="codellama-34b", mapping=mapped(16), network_binding=between))
    assert found["mlp_up"].is_matched
    assert found["qkv_projection"].reason == (
        "refused by policy: TP 16 repeats the 8 KV heads of codellama-34b, and a profile does not say how its kernels did"
    )


def test_a_name_of_the_projects_own_stands_for_itself(compute: Path):
    oracle = baseline(compute_csv=compute, model_name="mistral-7b", hardware_name="l40s_48g")
    row = references(oracle, case(model="mistral-7b", hardware="l40s_48g"))["mlp_up"]
    assert row.reason.startswith("no row")


def test_a_changed_copy_of_a_machine_is_another_machine(compute: Path):
    faster = load_system("a100_80g").with_overrides({"memory.bandwidth_gb_per_s": 4000})
    reason = references(baseline(compute_csv=compute), case(hardware=faster))["mlp_up"].reason
    assert reason.startswith("other hardware: measured on a100")


def test_heads_that_do_not_make_up_the_hidden_size_are_in_no_profile(compute: Path):
    wide = load_model("llama-2-7b").model_copy(update={"attention_head_size": 64})
    assert references(baseline(compute_csv=compute), case(model=wide))["mlp_up"].reason == (
        "other dimensions: a profile's heads make up n_embd, and llama-2-7b has 32 heads of 64"
    )
