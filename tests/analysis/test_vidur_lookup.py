"""Looking up in a profile file by its own dimensions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from vidur_profiles import ATTENTION, COMPUTE, MESSAGE, SERIAL, baseline, times, write

from blueprint_nb.analysis import VidurProfileBaseline, load_slice
from blueprint_nb.analysis.oracle import oracles_shut
from blueprint_nb.errors import InvalidInputError, OracleError, UnknownNameError

PHI_2 = {
    "n_embd": 2560,
    "n_expanded_embd": 10240,
    "n_head": 32,
    "n_kv_head": 32,
    "vocab_size": 51200,
    "use_gated_mlp": False,
    "num_tensor_parallel_workers": 1,
    "num_tokens": 128,
}


def test_milliseconds_become_seconds():
    reference = load_slice().lookup("mlp_up", PHI_2)
    assert (reference.state, reference.seconds, reference.samples, reference.reason) == ("matched", 5.05e-05, 1, "")


@pytest.mark.parametrize(
    ("name", "component", "seconds"),
    [
        ("qkv_projection", "qkv_projection", 4.3e-05),
        ("attn_pre_proj", "qkv_projection", 4.3e-05),
        ("add", "mlp_residual", 4e-06),
        ("mlp_residual", "mlp_residual", 4e-06),
    ],
)
def test_a_component_is_asked_for_by_its_name_or_its_operators(name: str, component: str, seconds: float):
    reference = load_slice().lookup(name, PHI_2)
    assert (reference.component, reference.seconds) == (component, seconds)


def test_numbers_of_numpy_and_words_for_flags_are_keys_too():
    key = {**PHI_2, "num_tokens": np.int64(128), "use_gated_mlp": "False", "n_embd": 2560.0}
    assert load_slice().lookup("rope", key).seconds == 6e-06


@pytest.mark.parametrize("word", ["0", " FALSE ", "0.0"])
def test_a_flag_is_written_as_in_a_file(word: str):
    assert load_slice().lookup("rope", {**PHI_2, "use_gated_mlp": word}).seconds == 6e-06


def test_a_column_may_be_left_out_where_the_rows_agree():
    assert load_slice().lookup("rope", {"num_tokens": 128}).seconds == 6e-06


def test_a_column_may_not_be_left_out_where_the_rows_differ():
    reference = load_slice().lookup("rope", {"n_embd": 2560})
    assert reference.reason == "no row: mlp.csv has several values of num_tokens here; the key must say which"


def test_the_vocabulary_matters_to_the_embedding_alone(tmp_path: Path):
    rows = [{**COMPUTE, **times("emb", "add")}]
    oracle = baseline(compute_csv=write(tmp_path / "mlp.csv", rows))
    key = {**COMPUTE, "vocab_size": 32768}
    assert oracle.lookup("add", key).is_matched
    assert oracle.lookup("emb", key).reason == "no row: mlp.csv has none with vocab_size 32,768"
    assert oracle.lookup("emb", COMPUTE).is_matched


def test_the_reference_of_duplicates_is_their_median_with_count_and_spread(tmp_path: Path):
    rows = [{**COMPUTE, **times("mlp_act", ms=ms)} for ms in (0.010, 0.014, 0.011, 0.5)]
    reference = baseline(compute_csv=write(tmp_path / "mlp.csv", rows)).lookup("mlp_activation", COMPUTE)
    assert (reference.seconds, reference.samples) == (1.25e-05, 4)
    assert reference.spread_seconds == pytest.approx(0.49e-3)


def test_the_median_of_an_even_number_of_rows_is_the_mean_of_the_middle_two(tmp_path: Path):
    rows = [{**COMPUTE, **times("mlp_act", ms=ms)} for ms in (0.010, 0.011)]
    assert baseline(compute_csv=write(tmp_path / "mlp.csv", rows)).lookup("mlp_act", COMPUTE).seconds == 1.05e-05


@pytest.mark.parametrize(
    ("component", "reason"),
    [
        ("attention_residual", "Vidur's one `add` stands for the last residual add only"),
        ("branch_add", "Vidur's `add` times both adds of a parallel block; look `add` itself up"),
    ],
)
def test_one_add_never_stands_for_two(component: str, reason: str):
    reference = load_slice().lookup(component, PHI_2)
    assert reference.state == "not-covered"
    assert reference.reason == f"refused by policy: {reason}"


@pytest.mark.parametrize(
    ("component", "key", "reason"),
    [
        ("kv_save", {"batch_size": 1}, "no column: attention.csv has no time_stats.attn_kv_cache_save.median"),
        ("post_attention_norm", PHI_2, "no column: mlp.csv has no time_stats.post_attention_layernorm.median"),
        ("mlp_up", {**PHI_2, "num_tokens": 127}, "no row: mlp.csv has none with num_tokens 127"),
        ("mlp_all_reduce", MESSAGE, "no file: no all_reduce profile was given"),
        ("lm_head", {}, "no column: Vidur does not time it"),
    ],
)
def test_what_is_missing_says_why(component: str, key: dict[str, object], reason: str):
    reference = load_slice().lookup(component, key)
    assert (reference.state, reference.seconds, reference.reason) == ("not-covered", None, reason)


def test_a_key_that_no_single_column_rules_out_is_shown_whole(tmp_path: Path):
    rows = [{**COMPUTE, "num_tokens": m, "num_tensor_parallel_workers": t, **times("add")} for m, t in ((1, 1), (2, 2))]
    oracle = baseline(compute_csv=write(tmp_path / "mlp.csv", rows))
    key = {"num_tokens": 1, "num_tensor_parallel_workers": 2}
    expected = "no row: mlp.csv has none with num_tokens 1, num_tensor_parallel_workers 2"
    assert oracle.lookup("add", key).reason == expected


def test_prefill_and_decode_rows_are_told_apart(tmp_path: Path):
    decode = {**ATTENTION, **times("attn_decode", ms=0.02), "time_stats.attn_prefill.median": 0.0}
    prefill = {**ATTENTION, "is_prefill": True, "prefill_chunk_size": 64, "kv_cache_size": 0}
    prefill |= {**times("attn_prefill", ms=0.03), "time_stats.attn_decode.median": 0.0}
    oracle = baseline(attention_csv=write(tmp_path / "attention.csv", [decode, prefill]))
    assert oracle.lookup("attention_core", decode).seconds == 2e-05
    assert oracle.lookup("attention_core", prefill).seconds == pytest.approx(3e-05)
    assert oracle.lookup("attn_prefill", decode).seconds is None


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ({"num_token": 1}, "key.num_token is no key of Vidur's compute files. Got 1. Did you mean num_tokens?"),
        ({"num_tokens": 1.5}, "key.num_tokens must be an integer from 0. Got 1.5."),
        ({"num_tokens": -1}, "key.num_tokens must be an integer from 0. Got -1."),
        ({"num_tokens": 2**70}, f"key.num_tokens must be an integer from 0. Got {2**70}."),
        ({"num_tokens": "many"}, "key.num_tokens must be an integer from 0. Got 'many'."),
        ({"num_tokens": float("nan")}, "key.num_tokens must be an integer from 0. Got nan."),
        (7, "key must map key columns of the file to values. Got 7."),
    ],
)
def test_a_bad_key_is_said(key: object, message: str):
    with pytest.raises(InvalidInputError) as caught:
        load_slice().lookup("mlp_up", key)  # type: ignore[arg-type]
    assert str(caught.value) == message


@pytest.mark.parametrize("component", ["mlp_upp", ["mlp_up"], {"mlp_up": 1}, None, 7])
def test_an_unknown_component_is_said(component: object):
    with pytest.raises(UnknownNameError, match="component must be one of"):
        load_slice().lookup(component, PHI_2)  # type: ignore[arg-type]


def test_a_file_that_does_not_say_its_phase_lacks_that_column(tmp_path: Path):
    row = {name: value for name, value in ATTENTION.items() if name != "is_prefill"}
    oracle = baseline(attention_csv=write(tmp_path / "attention.csv", [{**row, **times("attn_decode")}]))
    assert oracle.lookup("attention_core", row).reason == "no column: attention.csv has no is_prefill to match"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model_name": ""}, "model_name must not be empty. Got ''."),
        ({"hardware_name": ""}, "hardware_name must not be empty. Got ''."),
        (
            {"attention_backend": "AttentionBackend."},
            "attention_backend must be text, such as 'FLASH_ATTENTION'. Got 'AttentionBackend.'.",
        ),
        ({"block_size": 0}, "block_size must be an integer from 1 to 1,000,000,000,000. Got 0."),
    ],
)
def test_an_identity_that_names_nothing_is_said(changes: dict[str, object], message: str):
    with pytest.raises(InvalidInputError) as caught:
        baseline(**changes)
    assert str(caught.value) == message


@pytest.mark.parametrize("changes", [{"attention_backend": None}, {"block_size": None}])
def test_an_attention_file_needs_its_backend_and_block_size(tmp_path: Path, changes: dict[str, None]):
    path = write(tmp_path / "attention.csv", [{**ATTENTION, **times("attn_decode")}])
    (field,) = changes
    with pytest.raises(InvalidInputError) as caught:
        baseline(attention_csv=path, **changes)
    assert str(caught.value) == f"{field} is required with attention_csv. Got None."


def test_an_oracle_is_shut_while_an_estimate_is_made():
    oracle = load_slice()
    message = (
        "oracle can't be read while an estimate is made. "
        "Measured references are compared with estimates that are finished."
    )
    with pytest.raises(OracleError) as caught, oracles_shut():
        oracle.lookup("mlp_up", PHI_2)
    assert str(caught.value) == message
    assert oracle.lookup("mlp_up", PHI_2).is_matched


def test_an_attempt_that_was_hidden_still_ends_the_estimate():
    oracle = load_slice()

    def hide() -> None:
        try:
            oracle.lookup("mlp_up", PHI_2)
        except OracleError:
            return

    with pytest.raises(OracleError), oracles_shut():
        hide()


class TestPlausibility:
    def test_a_kv_save_that_physics_rules_out_is_flagged(self, tmp_path: Path):
        row = {**ATTENTION, "is_prefill": True, "prefill_chunk_size": 2048, "kv_cache_size": 0}
        row |= times("attn_kv_cache_save", ms=1.7)
        reference = baseline(attention_csv=write(tmp_path / "attention.csv", [row])).lookup("kv_save", row)
        assert (reference.state, reference.seconds) == ("flagged", 1.7e-3)
        assert reference.reason == (
            "ruled out by physics: 1.70 ms for 67.1 MB is 51.9 times what a100_80g needs at its peak; "
            "is the column in milliseconds?"
        )

    def test_nine_seconds_for_a_norm_are_flagged(self, tmp_path: Path):
        rows = [{**COMPUTE, **times("input_layernorm", ms=9000)}]
        reference = baseline(compute_csv=write(tmp_path / "mlp.csv", rows)).lookup("input_norm", COMPUTE)
        assert not reference.is_matched
        assert "line 2" in reference.reason

    def test_microseconds_in_a_column_of_milliseconds_are_flagged(self, tmp_path: Path):
        rows = [{**COMPUTE, **times("input_layernorm", ms=9.0)}]
        reference = baseline(compute_csv=write(tmp_path / "mlp.csv", rows)).lookup("input_norm", COMPUTE)
        assert reference.state == "flagged"
        assert reference.reason.startswith("ruled out by physics: 9.00 ms for 24.6 kB is")

    def test_a_projection_faster_than_its_weights_can_be_read_is_flagged(self, tmp_path: Path):
        # Gate and up: 2 · 4096 · 11008 · 2 B = 180 MB take 88 µs at 2048 GB/s.
        rows = [{**COMPUTE, **times("mlp_up_proj", ms=0.005)}]
        reference = baseline(compute_csv=write(tmp_path / "mlp.csv", rows)).lookup("mlp_up", COMPUTE)
        assert reference.state == "flagged"
        assert "is 0.0568 times what a100_80g needs" in reference.reason

    def test_an_add_that_beats_the_memory_stays_with_a_note(self, tmp_path: Path):
        # 3 · 4096 tokens · 4096 · 2 B = 101 MB take 49 µs at 2048 GB/s.
        key = {**COMPUTE, "num_tokens": 4096}
        oracle = baseline(compute_csv=write(tmp_path / "mlp.csv", [{**key, **times("add", ms=0.04)}]))
        reference = oracle.lookup("add", key)
        assert reference.is_matched
        assert reference.note == "2.52 TB/s, more than the HBM of a100_80g gives: read from a cache"

    def test_an_impossible_cell_among_good_ones_flags_the_reference(self, tmp_path: Path):
        rows = [{**COMPUTE, **times("add", ms=ms)} for ms in (0.004, -0.004)]
        reference = baseline(compute_csv=write(tmp_path / "mlp.csv", rows)).lookup("add", COMPUTE)
        assert (reference.state, reference.seconds, reference.samples) == ("flagged", 4e-06, 1)
        assert "line 3" in reference.reason

    def test_an_impossible_cell_alone_gives_no_reference(self, tmp_path: Path):
        rows = [{**COMPUTE, **times("add", ms=-0.004)}]
        reference = baseline(compute_csv=write(tmp_path / "mlp.csv", rows)).lookup("add", COMPUTE)
        assert (reference.state, reference.seconds) == ("not-covered", None)
        assert "line 2" in reference.reason

    def test_hardware_the_project_does_not_know_is_not_judged(self, tmp_path: Path):
        rows = [{**COMPUTE, **times("input_layernorm", ms=9.0)}]
        oracle = baseline(compute_csv=write(tmp_path / "mlp.csv", rows), hardware_name="a chip of 2031")
        assert oracle.lookup("input_norm", COMPUTE).is_matched

    def test_an_all_reduce_in_microseconds_is_flagged(self, tmp_path: Path):
        row = {**MESSAGE, "size": 8_388_608, **times("all_reduce", ms=95.0)}
        oracle = baseline(all_reduce_csv=write(tmp_path / "all_reduce.csv", [row]))
        reference = oracle.lookup("all_reduce", row)
        assert reference.state == "flagged"
        assert reference.reason.startswith("ruled out by physics: 95.0 ms for 8.39 MB is 3,397 times")

    def test_a_key_is_completed_from_the_rows_before_their_time_is_judged(self, tmp_path: Path):
        row = {**COMPUTE, "num_tensor_parallel_workers": 8, "num_tokens": 4096, **times("mlp_up_proj", ms=0.45)}
        oracle = baseline(compute_csv=write(tmp_path / "mlp.csv", [row]))
        assert oracle.lookup("mlp_up", {"num_tokens": 4096}).is_matched
        prefill = {**ATTENTION, "is_prefill": True, "prefill_chunk_size": 1024, "kv_cache_size": 3072}
        rows = [{**prefill, **times("attn_prefill", ms=0.9)}]
        oracle = baseline(attention_csv=write(tmp_path / "attention.csv", rows))
        for key in ({}, {"prefill_chunk_size": 1024}, {"is_prefill": 1.0}):
            assert oracle.lookup("attention_core", key).seconds == pytest.approx(0.9e-3)

    def test_attention_that_keeps_one_unit_busy_is_slow_but_possible(self, tmp_path: Path):
        row = {**ATTENTION, "n_kv_head": 1, "kv_cache_size": 131_071, "max_model_len": 131_072}
        oracle = baseline(attention_csv=write(tmp_path / "a.csv", [{**row, **times("attn_decode", ms=1.1)}]))
        assert oracle.lookup("attention_core", row).is_matched

    @pytest.mark.parametrize(("size", "state"), [(1_999_872, "flagged"), (2_000_000, "matched")])
    def test_small_messages_are_unreliable(self, tmp_path: Path, size: int, state: str):
        row = {**MESSAGE, "size": size, **times("all_reduce", ms=0.05)}
        oracle = baseline(all_reduce_csv=write(tmp_path / "all_reduce.csv", [row]))
        assert oracle.lookup("all_reduce", row).state == state


class TestOrder:
    @given(data=st.data())
    def test_no_order_of_rows_or_columns_changes_a_reference(
        self, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
    ):
        folder = tmp_path_factory.mktemp("profile")
        durations = data.draw(st.lists(st.integers(2, 400), min_size=2, max_size=12))
        rows = [{**COMPUTE, "num_tokens": 1 + i % 3, **times(*SERIAL, ms=d / 1000)} for i, d in enumerate(durations)]
        shuffled = data.draw(st.permutations(rows))
        columns = data.draw(st.permutations(list(rows[0])))
        other = [{name: row[name] for name in columns} for row in shuffled]
        first = baseline(compute_csv=write(folder / "mlp.csv", rows))
        second = baseline(compute_csv=write(folder / "linear_op.csv", other))
        assert _references(first) == _references(second)
        same_bytes = (folder / "mlp.csv").read_bytes() == (folder / "linear_op.csv").read_bytes()
        assert (first.revision == second.revision) == same_bytes

    @given(tokens=st.lists(st.integers(10, 500), min_size=1, max_size=8), ranks=st.integers(2, 8))
    def test_unrelated_rows_change_no_reference(
        self, tmp_path_factory: pytest.TempPathFactory, tokens: list[int], ranks: int
    ):
        folder = tmp_path_factory.mktemp("profile")
        rows = [{**COMPUTE, "num_tokens": m, **times(*SERIAL, ms=0.01 * m)} for m in (1, 2, 3, 2)]
        unrelated = [{**COMPUTE, "num_tokens": m, **times(*SERIAL, ms=0.3)} for m in tokens]
        unrelated += [{**COMPUTE, "num_tensor_parallel_workers": ranks, **times(*SERIAL, ms=0.2)}]
        first = baseline(compute_csv=write(folder / "mlp.csv", rows))
        second = baseline(compute_csv=write(folder / "more.csv", [*unrelated, *rows, *unrelated]))
        assert _references(first) == _references(second)


def _references(oracle: VidurProfileBaseline) -> list[tuple[object, ...]]:
    keys = [{**COMPUTE, "num_tokens": tokens} for tokens in (1, 2, 3)]
    found = [oracle.lookup(operator, key) for operator in SERIAL for key in keys]
    return [(one.state, one.seconds, one.samples, one.spread_seconds) for one in found]


def test_bytes_and_identity_hash_into_the_revision(tmp_path: Path):
    path = write(tmp_path / "mlp.csv", [{**COMPUTE, **times("add")}])
    revisions = {
        baseline(compute_csv=path).revision,
        baseline(compute_csv=path, model_name="another").revision,
        baseline(compute_csv=path, hardware_name="h100").revision,
        baseline(compute_csv=path, block_size=32).revision,
        baseline(compute_csv=path, attention_backend="FLASHINFER").revision,
        baseline(compute_csv=path, source_revision="another").revision,
        baseline().revision,
        baseline(compute_csv=write(tmp_path / "other.csv", [{**COMPUTE, **times("add", ms=0.02)}])).revision,
    }
    assert len(revisions) == 8
    assert baseline(compute_csv=path).revision in revisions


def test_a_baseline_says_what_it_holds_in_a_line():
    assert repr(load_slice()) == "VidurProfileBaseline(microsoft/phi-2 on a100: attention 4 rows, compute 2 rows)"
    assert repr(baseline()) == "VidurProfileBaseline(meta-llama/Llama-2-7b-hf on a100: no file)"
