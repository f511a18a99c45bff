"""Digests follow content alone: not names of classes, processes, hash seeds or new fields at their default."""

from __future__ import annotations

import hashlib
import json
import os
import struct
import subprocess
import sys

import numpy as np
import pytest
from architectures import KERNELS, decoder, decoders, dense_mha, mapped_models, planned, workloads
from hypothesis import given
from hypothesis import strategies as st
from pydantic import create_model

import blueprint_nb as bp
from blueprint_nb._canonical import canonical_json, content, digest
from blueprint_nb._schema import Record
from blueprint_nb.analysis.points import phase_statistics
from blueprint_nb.ir import PlanTemplate, packed_digests
from blueprint_nb.synthesizer import build_model_ir
from blueprint_nb.workload import InferencePhase, TransformerModelSpec, WorkloadBinding

STEP = WorkloadBinding.decode(batch_size=2, context_tokens=100, datatype="float16")
IRS = planned(decoder(biases=frozenset({"qkv", "mlp", "lm_head"})), STEP, tensor_parallel=2, pipeline_parallel=2)

PRINT_DIGESTS = """
import json
import blueprint_nb as bp
from blueprint_nb.analysis.snapshot import digests
model = bp.load_model("phi-2")
est = bp.estimate(model, "a100_80g", tensor_parallel=2, pipeline_parallel=2, prompt_tokens=100, generated_tokens=3)
print(json.dumps({**digests(est), "decode": est.decode["plan_digest"].to_list()}))
"""


def digests_with_hash_seed(seed: str) -> dict[str, object]:
    process = subprocess.run(
        [sys.executable, "-c", PRINT_DIGESTS],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(process.stdout)


def test_digests_are_the_same_in_processes_with_other_hash_seeds() -> None:
    first, second = digests_with_hash_seed("1"), digests_with_hash_seed("4242")
    assert first == second
    assert len(first["decode"]) == 2
    assert all(len(text) == 64 for text in (*first["decode"], first["model"], first["system_revision"]))


def test_a_digest_is_sha_256_of_the_canonical_json() -> None:
    for ir in (IRS.model, IRS.distributed, IRS.plan.template, IRS.bound.template):
        assert ir.digest == hashlib.sha256(ir.to_json().encode()).hexdigest()
        assert json.loads(ir.to_json()) == content(ir)
    group = IRS.plan.workload.groups[0]
    bound = [value for work in IRS.plan.work for value in work] + list(IRS.plan.buffer_bytes)
    quantities = [group.query_tokens, group.context_tokens, group.count, *bound]
    packed = struct.pack(f"<{len(quantities)}q", *quantities)
    assert IRS.plan.digest == hashlib.sha256(bytes.fromhex(IRS.plan.template.digest) + packed).hexdigest()


def test_a_set_has_one_canonical_form() -> None:
    biases = ["qkv", "mlp", "attention_output", "lm_head"]
    texts = {build_model_ir(decoder(biases=frozenset(order))).to_json() for order in (biases, biases[::-1])}
    assert len(texts) == 1


def renamed_with_a_new_field(record: Record) -> Record:
    """The same content in a class of another name, which also has a field more, at its default."""
    kind = create_model("Renamed", __base__=type(record), added_later=(int, 7), also_later=(str | None, None))
    return kind(**{name: getattr(record, name) for name in type(record).model_fields})


RECORDS = {
    "model": bp.load_model("phi-2"),
    "system": bp.load_system("a100_80g"),
    "workload": STEP,
    "model IR": IRS.model,
    "model operation": IRS.model.operations[1],
    "block": IRS.model.operations[1].block,
    "distributed IR": IRS.distributed,
    "distributed task": IRS.distributed.tasks[3],
    "form": IRS.distributed.tasks[3].operations,
    "origin": IRS.distributed.tasks[3].origin,
    "plan template": IRS.plan.template,
    "plan task": IRS.plan.template.tasks[3],
    "plan buffer": IRS.plan.template.buffers[0],
    "bound template": IRS.bound.template,
    "implementation": IRS.bound.template.implementation,
    "plan": IRS.plan,
}


@pytest.mark.parametrize("name", RECORDS)
def test_a_renamed_class_with_a_new_optional_field_has_the_old_digest(name: str) -> None:
    old, new = RECORDS[name], renamed_with_a_new_field(RECORDS[name])
    assert type(new).__name__ == "Renamed"
    assert "added_later" in type(new).model_fields
    assert canonical_json(new) == canonical_json(old)
    assert digest(new) == digest(old)


def test_a_new_optional_field_deep_inside_leaves_the_digest_of_the_whole() -> None:
    template = planned(decoder(), STEP).plan.template
    tasks = tuple(
        renamed_with_a_new_field(task.model_copy(update={"write_bytes": renamed_with_a_new_field(task.write_bytes)}))
        for task in template.tasks
    )
    grown = PlanTemplate(
        datatype=template.datatype,
        distributed_digest=template.distributed_digest,
        tasks=tasks,
        buffers=template.buffers,
    )
    assert grown.digest == template.digest


def test_a_new_field_away_from_its_default_counts() -> None:
    kind = create_model("Grown", __base__=type(IRS.model.operations[1]), added_later=(int, 7))
    old = IRS.model.operations[1]
    grown = kind(**{name: getattr(old, name) for name in type(old).model_fields}, added_later=8)
    assert digest(grown) != digest(old)


@given(decoders())
def test_the_name_of_a_model_is_not_its_content(model: TransformerModelSpec) -> None:
    fields = {name: getattr(model, name) for name in model.model_fields_set}
    other = TransformerModelSpec(**{**fields, "name": "another"})
    assert build_model_ir(other).name == "another"
    assert build_model_ir(other).digest == build_model_ir(model).digest
    assert planned(other, STEP).plan.digest == planned(model, STEP).plan.digest


CHANGES = {
    "hidden_size": 65,
    "feedforward_size": 200,
    "sequence_length": 4097,
    "attention_heads": 16,
    "key_value_heads": 4,
    "attention_head_size": 8,
    "block_count": 8,
    "vocab_size": 1002,
    "mlp": "plain",
    "activation": "gelu",
    "norm": "layer_norm",
    "residual": "parallel",
    "position": "alibi",
    "rotary_size": 8,
    "biases": frozenset({"mlp"}),
    "tied_embeddings": True,
}


@pytest.mark.parametrize("field", CHANGES)
def test_every_field_of_a_model_counts(field: str) -> None:
    assert build_model_ir(decoder(**{field: CHANGES[field]})).digest != build_model_ir(decoder()).digest


def test_a_whole_rotated_head_can_be_said_in_two_ways() -> None:
    assert build_model_ir(decoder(rotary_size=16)).digest == build_model_ir(decoder()).digest


@given(mapped_models(), workloads(), st.sampled_from(KERNELS))
def test_a_plan_made_again_has_the_same_digest(
    mapped: tuple[TransformerModelSpec, int, int], workload: WorkloadBinding, kernel: str
) -> None:
    model, ranks, stages = mapped
    first, second = (
        planned(copy, workload, tensor_parallel=ranks, pipeline_parallel=stages, attention=kernel)
        for copy in (model, TransformerModelSpec(**{n: getattr(model, n) for n in model.model_fields_set}))
    )
    assert first.plan.digest == second.plan.digest
    assert first.bound.digest == second.bound.digest
    assert first.bound.digest != first.plan.digest


def test_every_part_of_a_step_counts() -> None:
    steps = [
        STEP,
        WorkloadBinding.decode(batch_size=3, context_tokens=100, datatype="float16"),
        WorkloadBinding.decode(batch_size=2, context_tokens=101, datatype="float16"),
        WorkloadBinding.decode(batch_size=2, context_tokens=100, datatype="bfloat16"),
        WorkloadBinding.prefill(batch_size=2, prompt_tokens=100, datatype="float16"),
        WorkloadBinding(groups=STEP.groups * 2, datatype="float16"),
    ]
    digests = [planned(dense_mha(), step, tensor_parallel=t).plan.digest for step in steps for t in (1, 2)]
    assert len(set(digests)) == len(digests)


@given(mapped_models(), st.integers(1, 50), st.lists(st.integers(1, 4096), min_size=1, max_size=8))
def test_the_digests_of_a_decode_series_are_those_of_its_plans(
    mapped: tuple[TransformerModelSpec, int, int], batch: int, contexts: list[int]
) -> None:
    model, ranks, stages = mapped
    template = planned(model, STEP, tensor_parallel=ranks, pipeline_parallel=stages).plan.template
    column = np.array(contexts, dtype=np.int64)
    statistics = phase_statistics(template, InferencePhase.DECODE, np.int64(batch), column)
    work = [value for task in template.work(statistics) for value in task]
    series = packed_digests(
        template.digest, [1, column, batch, *work, *template.buffer_bytes(statistics)], len(contexts)
    )
    for context, text in zip(contexts, series, strict=True):
        step = WorkloadBinding.decode(batch_size=batch, context_tokens=context, datatype="float16")
        assert text == planned(model, step, tensor_parallel=ranks, pipeline_parallel=stages).plan.digest


def test_an_estimate_keeps_the_digest_of_every_decode_plan() -> None:
    est = bp.estimate("llama-2-7b", "a100_80g", tensor_parallel=4, prompt_tokens=50, generated_tokens=40, batch_size=3)
    for context, text in est.decode.select("context_tokens", "plan_digest").iter_rows():
        step = WorkloadBinding.decode(batch_size=3, context_tokens=context, datatype="float16")
        assert text == planned(bp.load_model("llama-2-7b"), step, tensor_parallel=4).plan.digest
        assert text == est.decode_plan(context).digest
    assert est.decode["plan_digest"].n_unique() == 39
