"""Points of a sweep that are faster than smaller ones."""

from __future__ import annotations

import blueprint_nb as bp
from blueprint_nb.analysis.falls import falling_points


def test_a_larger_batch_that_is_faster_is_found() -> None:
    # 220.98 µs a block at batch 19 and 171.21 µs at batch 20: the step of the memory curve.
    frame = bp.sweep("phi-2-dense-mha", "a100_80g", batch_size=[20, 19, 18], context_tokens=129)
    assert falling_points(frame)["batch_size"].to_list() == [20]


def test_a_longer_context_that_is_faster_is_found_whatever_the_order() -> None:
    contexts = [*range(1000, 90, -1)]
    frame = bp.sweep("phi-2-dense-mha", "a100_80g", context_tokens=contexts)
    assert falling_points(frame)["context_tokens"].to_list() == [976, 97]


def test_mappings_are_not_compared_with_each_other() -> None:
    frame = bp.sweep("llama-2-7b", "h100_80g_sxm", tensor_parallel=[1, 3, 8], mode="peak-only", context_tokens=[64, 65])
    assert falling_points(frame).is_empty()


def test_one_point_given_twice_does_not_fall() -> None:
    frame = bp.sweep("phi-2-dense-mha", "a100_80g", batch_size=[20, 20], context_tokens=[129, 129])
    assert falling_points(frame).is_empty()
