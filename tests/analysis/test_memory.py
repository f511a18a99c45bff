"""What a device holds, against sums made here from the architecture alone."""

from __future__ import annotations

import pytest
from architectures import ELEMENT_BYTES, device_bytes, mapped_models
from hypothesis import given
from hypothesis import strategies as st

import blueprint_nb as bp
from blueprint_nb.analysis import MemoryReport, RequestInputs, candidate_mappings, estimate_request, smallest_fix
from blueprint_nb.mapping import NetworkTierBinding, TransformerInferenceMappingSpec
from blueprint_nb.workload import TransformerInferenceRequestSpec, TransformerModelSpec

Mapped = tuple[TransformerModelSpec, int, int]

PARTS = ("total_bytes", "weights_bytes", "kv_cache_bytes", "workspace_bytes", "buffers_bytes")
H100 = bp.load_system("h100_80g_nvl8")


def parts(memory: MemoryReport) -> dict[str, int]:
    return {name: getattr(memory, name) for name in PARTS}


def of_request(
    model: TransformerModelSpec,
    ranks: int,
    stages: int,
    batch: int,
    prompt: int,
    generated: int,
    element: int,
    kernel: str,
) -> dict[str, int]:
    """The largest total over prefill and every decode step, with its parts."""
    points = [(prompt, prompt)] + [(1, context) for context in range(prompt + 1, prompt + generated)]
    sizes = [
        device_bytes(
            model,
            tensor_parallel=ranks,
            pipeline_parallel=stages,
            batch=batch,
            query=query,
            context=context,
            element=element,
            unfused=kernel == "unfused",
        )
        for query, context in points
    ]
    return max(sizes, key=lambda size: size["total_bytes"])


@given(
    mapped_models(most_ranks=8),
    st.integers(1, 64),
    st.integers(1, 3000),
    st.integers(1, 60),
    st.sampled_from(["float16", "float8"]),
    st.sampled_from(["unfused", "flash"]),
)
def test_a_request_holds_what_its_architecture_says(
    mapped: Mapped, batch: int, prompt: int, generated: int, datatype: str, kernel: str
) -> None:
    model, ranks, stages = mapped
    est = bp.estimate(
        model,
        H100,
        tensor_parallel=ranks,
        pipeline_parallel=stages,
        batch_size=batch,
        prompt_tokens=prompt,
        generated_tokens=generated,
        datatype=datatype,
        attention=kernel,
    )
    element = ELEMENT_BYTES[datatype]
    assert parts(est.memory) == of_request(model, ranks, stages, batch, prompt, generated, element, kernel)
    assert est.memory.total_bytes == est.memory_by_context.select(PARTS[1:]).sum_horizontal().max()
    assert est.memory.fits == (est.memory.total_bytes <= 80 * 2**30)


@given(mapped_models())
def test_no_rank_is_without_keys_and_values(mapped: Mapped) -> None:
    model, ranks, stages = mapped
    held = bp.kv_cache_bytes(model, tensor_parallel=ranks, pipeline_parallel=stages)
    heads = max(1, model.key_value_heads // ranks)
    assert held == 2 * model.block_count // stages * heads * model.attention_head_size * 2
    assert held > 0


def test_a_long_output_moves_the_peak_to_the_last_decode_step() -> None:
    memory = bp.estimate("llama-2-7b", H100, prompt_tokens=2, generated_tokens=3000).memory
    assert (memory.peak_phase, memory.peak_context_tokens) == ("decode", 3001)
    short = bp.estimate("llama-2-7b", H100, prompt_tokens=2000, generated_tokens=3).memory
    assert (short.peak_phase, short.peak_context_tokens) == ("prefill", 2000)


def test_usable_memory_is_the_fraction_of_the_profile() -> None:
    memory = bp.estimate("llama-3.1-8b", "h100_80g_sxm", mode="peak-only").memory
    assert memory.capacity_bytes == 80 * 2**30
    assert memory.usable_bytes == int(80 * 2**30 * 0.9)


def test_a_request_that_fills_its_memory_to_the_byte_fits() -> None:
    need = bp.estimate("llama-2-7b", H100).memory.total_bytes
    exact = H100.with_overrides({"memory.capacity_gib": need / 2**30})
    assert exact.memory.usable_bytes == need
    assert bp.estimate("llama-2-7b", exact).memory.fits
    short = H100.with_overrides({"memory.capacity_gib": (need - 1) / 2**30})
    assert not bp.estimate("llama-2-7b", short).memory.fits


def inputs(
    model: TransformerModelSpec, capacity: int, batch: int, prompt: int, generated: int, ranks: int = 1, tier: int = 0
) -> RequestInputs:
    system = H100.model_copy(update={"memory": H100.memory.model_copy(update={"capacity_gib": capacity / 2**30})})
    return RequestInputs(
        model=model,
        system=system,
        mapping=TransformerInferenceMappingSpec(tensor_parallel=ranks),
        request=TransformerInferenceRequestSpec(
            batch_size=batch, prompt_tokens=prompt, generated_tokens=generated, datatype="float16"
        ),
        network=NetworkTierBinding(tensor_parallel_network=tier),
        mode="peak-only",
        attention="flash",
    )


def brute_force(model: TransformerModelSpec, capacity: int, batch: int, prompt: int, generated: int) -> object:
    """(TP, PP) with the fewest devices that holds the batch; fewest stages among equals."""
    pairs = [
        (t, p)
        for t in range(1, 9)
        for p in range(1, model.block_count + 1)
        if model.attention_heads % t == 0
        and model.feedforward_size % t == 0
        and (model.key_value_heads % t == 0 or t % model.key_value_heads == 0)
        and model.block_count % p == 0
    ]
    holding = [
        (t * p, p, t)
        for t, p in pairs
        if of_request(model, t, p, batch, prompt, generated, 2, "flash")["total_bytes"] <= capacity
    ]
    return min(holding, default=None)


@given(mapped_models(most_ranks=1), st.data())
def test_the_smallest_fix_has_the_fewest_devices_then_the_fewest_stages(mapped: Mapped, data: st.DataObject) -> None:
    model = mapped[0]
    batch, prompt = data.draw(st.integers(1, 100), "batch"), data.draw(st.integers(1, 500), "prompt")
    whole = of_request(model, 1, 1, batch, prompt, 9, 2, "flash")["total_bytes"]
    capacity = max(2**21, int(whole * data.draw(st.floats(0.02, 1), "share")))
    request = inputs(model, capacity, batch, prompt, 9)
    capacity = request.system.memory.usable_bytes
    fix, expected = smallest_fix(request), brute_force(model, capacity, batch, prompt, 9)
    if expected is not None:
        assert (fix.devices, fix.pipeline_parallel, fix.tensor_parallel) == expected
        assert fix.batch_size == batch
        return
    if fix is None:
        assert brute_force(model, capacity, 1, prompt, 9) is None
        return
    t, p, fitting = fix.tensor_parallel, fix.pipeline_parallel, fix.batch_size
    assert fitting < batch
    assert of_request(model, t, p, fitting, prompt, 9, 2, "flash")["total_bytes"] <= capacity
    assert of_request(model, t, p, fitting + 1, prompt, 9, 2, "flash")["total_bytes"] > capacity
    as_it_is = of_request(model, 1, 1, 1, prompt, 9, 2, "flash")["total_bytes"] <= capacity
    assert ((t, p) == (1, 1)) == as_it_is


def test_candidates_are_legal_on_the_network_too() -> None:
    near = candidate_mappings(inputs(bp.load_model("llama-3.1-8b"), 2**34, 1, 8, 2))
    far = candidate_mappings(inputs(bp.load_model("llama-3.1-8b"), 2**34, 1, 8, 2, tier=1))
    assert {t for t, _ in near} == {1, 2, 4, 8}
    assert {t for t, _ in far} == {1, 2, 4, 8, 16, 32}
    assert near[:6] == [(1, 1), (2, 1), (1, 2), (4, 1), (2, 2), (1, 4)]


@pytest.mark.parametrize(
    ("request_of", "words"),
    [
        ({"model": "llama-3.1-70b"}, "fits with TP 2 × PP 1 (2 devices)"),
        ({"model": "llama-3.1-405b"}, "fits with TP 4 × PP 3 (12 devices)"),
        (
            {"model": "llama-3.1-70b", "batch_size": 10**6},
            "fits with batch 53 instead of 1,000,000 on TP 2 × PP 1 (2 devices); no legal TP × PP holds all of it",
        ),
        (
            {"model": "llama-3.1-70b", "batch_size": 10**6, "tensor_parallel": 8},
            "fits with batch 699 instead of 1,000,000; no legal TP × PP holds all of it",
        ),
    ],
)  # fmt: skip
def test_the_fix_is_said_in_words(request_of: dict[str, object], words: str) -> None:
    est = bp.estimate(system="a100_80g", mode="peak-only", **request_of)
    assert est.verdict.fix == words
    assert est.summary().endswith(f" · {words}")


def test_large_counts_are_read_in_thousands() -> None:
    est = bp.estimate("llama-3.1-8b", "h100_80g_nvl8", replicas=10**12)
    assert est.verdict.throughput.endswith(" tokens/s per replica on 1,000,000,000,000 devices")


def test_a_fix_that_is_promised_holds() -> None:
    est = bp.estimate("llama-3.1-70b", "a100_80g", batch_size=5000)
    fix = smallest_fix(est.inputs)
    mapping = TransformerInferenceMappingSpec(
        tensor_parallel=fix.tensor_parallel, pipeline_parallel=fix.pipeline_parallel
    )
    request = est.inputs.request.model_copy(update={"batch_size": fix.batch_size})
    fixed = estimate_request(est.inputs.model_copy(update={"mapping": mapping, "request": request}))
    assert not est.memory.fits
    assert fixed.memory.fits
    assert fixed.verdict.fix == ""


def test_where_nothing_fits_the_verdict_says_so() -> None:
    tiny = H100.with_overrides({"memory.capacity_gib": 0.001})
    est = bp.estimate("llama-3.1-8b", tiny)
    assert smallest_fix(est.inputs) is None
    assert est.verdict.fix == ("no legal TP × PP holds even one such sequence: shorten it or use a smaller datatype")


def test_a_count_past_2_to_the_63_on_some_mapping_is_no_fix_and_no_error() -> None:
    est = bp.estimate(
        "llama-3.1-70b", "a100_80g", batch_size=3 * 10**10, prompt_tokens=1, generated_tokens=2, tensor_parallel=8
    )
    assert est.verdict.fix.startswith("fits with batch ")
