"""What is fitted to each source: which rows make which family, by which form, and what is held out."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from blueprint_nb.calibration.aiconfigurator_sets import DeviceTables, aiconfigurator_studies, device_tables
from blueprint_nb.calibration.gpus import GPUS, names_by_year
from blueprint_nb.calibration.observed import SYSTEMS
from blueprint_nb.calibration.pooled_families import pooled_families
from blueprint_nb.calibration.pooled_set import pooled_set, steps
from blueprint_nb.calibration.run import devices_of, studies_of
from blueprint_nb.calibration.study import Study
from blueprint_nb.calibration.vidur_sets import vidur_studies
from blueprint_nb.cost.families import AttentionDecode, AttentionPrefill, Collective, Gemm
from blueprint_nb.errors import UnknownNameError
from blueprint_nb.evidence.aiconfigurator import AiconfiguratorImporter
from blueprint_nb.evidence.observations import observation_frame

SOURCES = {"vidur": "vidur", "aiconfigurator-core": "vllm"}
HEADS = {"heads": 8, "kv_heads": 2, "head_size": 128}


def rows(source: str, target: str, family: str, **columns: Any) -> pl.DataFrame:
    """Rows of one family, numbered, each of a microsecond where no `seconds` are given."""
    count = max(len(column) for column in columns.values() if isinstance(column, list))
    filled = {name: column if isinstance(column, list) else [column] * count for name, column in columns.items()}
    constants = {
        "target": target,
        "family": family,
        "datatype": "float16",
        "component": family,
        "software": SOURCES[source],
        "source": source,
        "source_revision": "made up",
        "file_sha256": "0" * 64,
        "licence": "MIT",
    }
    left = {name: value for name, value in constants.items() if name not in filled}
    record = [f"{family}:{number}" for number in range(count)]
    return observation_frame({"seconds": [1e-6] * count, **filled, "record": record}, **left)


def by_key(studies: list[Study]) -> dict[str, Study]:
    return {study.key: study for study in studies}


def device(*frames: pl.DataFrame, target: str = "h100_sxm") -> dict[str, Study]:
    return by_key(aiconfigurator_studies(DeviceTables(target, "vllm-1", pl.concat(frames))))


def test_8_bit_gemms_are_a_family_of_their_own():
    shapes = {"m": [1, 2, 3], "n": [64, 64, 64], "k": [512, 1024, 2048]}
    halves = rows("aiconfigurator-core", "h100_sxm", "gemm", **shapes, datatype="bfloat16")
    eighths = rows("aiconfigurator-core", "h100_sxm", "gemm", **shapes, datatype="float8")
    assert list(device(halves, target="a100_sxm")) == ["gemm"]
    found = device(halves, eighths)
    assert found["gemm"].machine is None
    assert found["gemm"].rows["k"].to_list() == [512, 1024, 2048]
    assert found["gemm:float8"].rows["k"].to_list() == [512, 1024, 2048]
    (form,) = found["gemm:float8"].forms
    assert isinstance(form, Gemm)
    assert form.kernel == "quantised"
    machine = found["gemm:float8"].machine
    assert machine is not None
    assert machine.element_bytes == 1


def test_attention_is_of_the_kernel_with_most_rows():
    kernels = ["vllm_flash_attn_fa4", "vllm_flash_attn_fa3", "vllm_flash_attn_fa3", "vllm_flash_attn_fa2"]
    step = {"batch": [1, 2, 3, 4], "context_tokens": [64, 128, 40_000, 256], "kernel": kernels, **HEADS}
    decode = rows("aiconfigurator-core", "h100_sxm", "attention_decode", query_tokens=[1] * 4, **step)
    prefill = rows("aiconfigurator-core", "h100_sxm", "attention_prefill", query_tokens=[8, 8, 8, 1], **step)
    found = device(decode, prefill)
    (form,) = found["attention_decode"].forms
    assert isinstance(form, AttentionDecode)
    assert form.kernel == "flash_attention_3_dynamic"
    assert found["attention_decode"].rows["batch"].to_list() == [2, 3]
    ((_, short, long),) = found["attention_decode"].splits["contexts over 32,768 out"]
    assert (short["batch"].to_list(), long["batch"].to_list()) == ([2], [3])
    (form,) = found["attention_prefill"].forms
    assert isinstance(form, AttentionPrefill)
    assert form.kernel == "flash_attention_3"
    assert found["attention_prefill"].rows["batch"].to_list() == [2, 3]


def test_collectives_are_of_the_tier_that_reaches_the_box():
    message = {"message_bytes": [2**10, 2**20, 2**30], "ranks": [2, 4, 8]}
    graph = rows("aiconfigurator-core", "h100_sxm", "all_reduce", **message, kernel="vLLM_custom_graph")
    eager = rows("aiconfigurator-core", "h100_sxm", "all_reduce", **message, kernel="vLLM_custom_eager")
    nccl = rows("aiconfigurator-core", "h100_sxm", "all_gather", **message, software="nccl", software_version="2.29.2")
    found = device(graph, eager, nccl)
    assert sorted(found) == ["all_gather@NVLink 4", "all_reduce@NVLink 4"]
    reduce, gather = found["all_reduce@NVLink 4"], found["all_gather@NVLink 4"]
    assert reduce.rows["kernel"].unique().to_list() == ["vLLM_custom_graph"]
    assert [form.own_bytes for form in reduce.forms if isinstance(form, Collective)] == [0, 2**23]
    assert (gather.software, len(gather.forms)) == ("nccl 2.29.2", 1)
    assert gather.link is not None
    assert gather.link.bytes_per_second == 450e9
    assert sorted(gather.splits) == ["4 ranks out", "rows out, 5 folds"]


def test_vidurs_network_inside_a_box_is_apart_from_that_across():
    sizes = [2**20, 2**21, 2**22, 2**23]
    message = {"message_bytes": sizes, "ranks": [2, 2, 4, 2], "devices_per_node": [2, 1, 2, 2]}
    both = [rows("vidur", "a100_dgx", kind, **message) for kind in ("all_reduce", "point_to_point")]
    found = by_key(vidur_studies(pl.concat(both)))
    assert sorted(found) == ["all_reduce@NVLink 3", "point_to_point@HDR InfiniBand", "point_to_point@NVLink 3"]
    # The small one scatters, the others cross boxes.
    assert found["all_reduce@NVLink 3"].rows["message_bytes"].to_list() == [2**23]
    assert found["point_to_point@NVLink 3"].rows["message_bytes"].to_list() == [2**20, 2**23]
    assert found["point_to_point@HDR InfiniBand"].rows["message_bytes"].to_list() == [2**21]


def test_models_and_hidden_sizes_are_held_out_of_blocks():
    models = {"model": ["one", "two", "three"], "rows": [1, 1, 1]}
    norms = rows("vidur", "a100", "rms_norm", **models, width=[64, 128, 128])
    ropes = rows("vidur", "a100", "rope", **models, width=[96, 160, 176])
    found = by_key(vidur_studies(pl.concat([norms, ropes])))["rope"]
    by_model, by_size = found.splits.values()
    assert [name for name, _, _ in by_model] == ["one", "three", "two"]
    assert [(name, test["width"].to_list()) for name, _, test in by_size] == [("64", [96]), ("128", [160, 176])]


def test_a_pool_takes_the_sixteen_bit_kernels_of_all_sources_together_and_eight_bit_ones_apart():
    shape = {"m": [1], "n": [64], "k": [2048]}
    vidur = vidur_studies(rows("vidur", "a100", "gemm", **shape))
    others = device(
        *(
            rows("aiconfigurator-core", "h100_sxm", "gemm", **shape, datatype=datatype)
            for datatype in ("bfloat16", "float8")
        )
    )
    halves, eighths = pooled_families([*vidur, *others.values()])
    assert (halves.name, [study.key for study in halves.studies]) == ("gemm", ["gemm", "gemm"])
    assert (eighths.name, [study.key for study in eighths.studies]) == ("gemm:float8", ["gemm:float8"])


def test_a_pool_leaves_out_8_bit_gemms_of_one_token_on_b200_alone():
    shapes = {"m": [1, 2, 4], "n": [8192] * 3, "k": [16_384] * 3}
    studies = [
        study
        for target in ("b200_sxm", "h100_sxm")
        for datatype in ("bfloat16", "float8")
        for study in device(
            rows("aiconfigurator-core", target, "gemm", **shapes, datatype=datatype, seconds=[1e-3] * 3), target=target
        ).values()
    ]
    found = {
        (study.key, study.rows["target"][0]): study.rows["m"].to_list()
        for family in pooled_families(studies)
        for study in family.studies
    }
    assert found == {
        ("gemm", "b200_sxm"): [1, 2, 4],
        ("gemm", "h100_sxm"): [1, 2, 4],
        ("gemm:float8", "b200_sxm"): [2, 4],
        ("gemm:float8", "h100_sxm"): [1, 2, 4],
    }


def test_a_pool_fits_8_bit_gemms_by_their_own_form_and_asks_each_gpu_left_out():
    shapes = {"m": [2, 64, 2048], "n": [8192] * 3, "k": [16_384] * 3}
    studies = [
        study
        for target in ("b200_sxm", "h100_sxm")
        for study in device(
            rows("aiconfigurator-core", target, "gemm", **shapes, datatype="float8", seconds=[1e-4, 1e-4, 1e-3]),
            target=target,
        ).values()
    ]
    families = pooled_families(studies)
    told: list[str] = []
    found = pooled_set(families, told.append)
    (fit,) = found.families.values()
    assert (list(found.families), fit.kernel, fit.datatypes) == (["gemm:float8"], "quantised", ("float8",))
    assert found.sources == f"{found.source} {found.source_revision}"
    # Priced by the figures of the system at hand.
    assert (found.machine, fit.machine) == (None, None)
    assert {split: figures.rows for split, figures in fit.held_out.items()} == {
        "leave-one-GPU-out": 6,
        "earlier generations to a later one": 3,
    }
    assert len(told) == sum(steps(family) for family in families)


def test_every_system_that_was_measured_is_of_a_gpu_and_later_ones_follow_earlier_ones():
    assert {system for devices in SYSTEMS.values() for system in devices.values()} == GPUS.keys()
    assert names_by_year() == (("A100", "A40"), ("L40S", "H100", "H200"), ("B200",))


def test_a_device_is_fitted_by_the_studies_that_have_its_rows():
    gemm = rows("vidur", "a100", "gemm", m=[1], n=[64], k=[64])
    studies = vidur_studies(pl.concat([gemm, rows("vidur", "h100", "add", rows=[1], width=[64])]))
    assert devices_of(studies) == ["a100", "h100"]
    assert [study.key for study in studies_of(studies, ["h100"])] == ["add"]
    assert studies_of(studies, ["a40"]) == []


def test_a_stack_and_a_device_are_known():
    importer = AiconfiguratorImporter("nowhere", "made up")
    with pytest.raises(UnknownNameError, match="stack must be sglang or vllm"):
        device_tables(importer, "tgi", None)
    with pytest.raises(UnknownNameError, match="target must be"):
        device_tables(importer, "vllm", ["v100"])
