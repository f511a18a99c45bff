"""Speed and memory of the engine on this machine, in one run: on one core where that can be chosen, on one thread.

Every time is the processor's, and the best of several after a warm-up, since on a shared machine only that is about the
code; imports, which a user meets cold, are the median of fresh processes, by the clock on the wall. Run by hand:
`python benchmarks/speed.py`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
MODEL, SYSTEM = "llama-3.1-8b", "h100_80g_nvl8"
MAPPINGS: dict[str, Any] = {"tensor_parallel": [1, 2, 4, 8], "pipeline_parallel": [1, 2]}
BATCHES = 50
STEPS = 4_095

CALIBRATED_SYSTEM = "h100_80g_sxm"
DECODE: dict[str, Any] = {"phase": "decode", "batch_size": [1, 8], "context_tokens": list(range(1, 50_001))}
PREFILL: dict[str, Any] = {"phase": "prefill", "batch_size": 1, "context_tokens": list(range(1, 20_001))}

TARGET_POINTS_PER_SECOND = 200_000
TARGET_CONTEXTS_PER_SECOND = 100_000
TARGET_SHAPES_PER_SECOND = 20_000
TARGET_RATIO = 300
TARGET_IMPORT_SECONDS = 0.5

IMPORT = """
from time import perf_counter
start = perf_counter()
import blueprint_nb
imported = perf_counter()
blueprint_nb.estimate
engine = perf_counter()
blueprint_nb.estimate("llama-3.1-8b", "h100_80g_nvl8")
print(imported - start, engine - start, perf_counter() - start)
"""

MEMORY = """
import json, re, sys
from pathlib import Path
import blueprint_nb
def peak():
    # A child's ru_maxrss starts at its parent's size on Linux; VmHWM is its own.
    status = Path("/proc/self/status")
    if status.exists():
        return 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", status.read_text())[1])
    import resource
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
sizes = [peak()]
blueprint_nb.estimate
sizes.append(peak())
blueprint_nb.sweep("llama-3.1-8b", "h100_80g_nvl8", **json.loads(sys.argv[1]))
print(*sizes, peak())
"""


def main() -> None:
    parser = argparse.ArgumentParser(description="Speed and memory of the engine on this machine.")
    parser.add_argument("--points", type=int, default=1_000_000, help="points of the large sweep")
    points = parser.parse_args().points
    cores = _on_one_core()
    print(f"Python {platform.python_version()}, {platform.machine()}, {cores}, one thread")
    print(f"{MODEL} on {SYSTEM}, float16, system-evidence; calibrated on {CALIBRATED_SYSTEM}\n")
    _print("", "measured", "target")
    _sweeps()
    _request()
    _calibrated()
    _imports()
    _memory(points)


def _on_one_core() -> str:
    """Keeps this process and its children to one core and one thread; says whether that was possible."""
    os.environ.update(POLARS_MAX_THREADS="1", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    sys.path.insert(0, str(ROOT))
    if not hasattr(os, "sched_setaffinity"):
        return "not kept to one core"
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    return "one core"


def _axes(points: int) -> dict[str, Any]:
    """Axes of at least `points` points: the mappings, `BATCHES` batches and as many contexts as it takes."""
    axes = {**MAPPINGS, "batch_size": list(range(1, BATCHES + 1))}
    contexts = math.ceil(points / _count(axes))
    return {**axes, "context_tokens": list(range(1, contexts + 1))}


def _count(axes: dict[str, Any]) -> int:
    """Points that the axes span."""
    return math.prod(len(axis) for axis in axes.values() if isinstance(axis, list))


def _sweeps() -> None:
    import blueprint_nb as bp

    axes = _axes(200_000)
    seconds = _best(lambda: bp.sweep(MODEL, SYSTEM, **axes))
    _print("sweep, 200,000 points", f"{200_000 / seconds:,.0f} points/s", f"{TARGET_POINTS_PER_SECOND:,} points/s")
    axes = _axes(20_000)
    rows = bp.sweep(MODEL, SYSTEM, **axes, by_component=True).height
    seconds = _best(lambda: bp.sweep(MODEL, SYSTEM, **axes, by_component=True))
    _print("sweep, 20,000 points as a long table by component", f"{20_000 / seconds:,.0f} points/s")
    _print("", f"{rows / seconds:,.0f} rows/s")


def _calibrated() -> None:
    """Components with their bands; every prefill point brings GEMM shapes that no other has."""
    rows = ((DECODE, "decode contexts", TARGET_CONTEXTS_PER_SECOND), (PREFILL, "prefills", TARGET_SHAPES_PER_SECOND))
    for axes, name, target in rows:
        points = _count(axes)
        table, by_point, peak = (
            _sweep_seconds(axes, **options)
            for options in (
                {"mode": "calibrated", "by_component": True},
                {"mode": "calibrated"},
                {"mode": "peak-only", "by_component": True},
            )
        )
        _print(f"calibrated, {points:,} {name} by component", f"{points / table:,.0f} points/s", f"{target:,} points/s")
        _print("  without the long table", f"{points / by_point:,.0f} points/s")
        _print("  long table / that of peak-only", f"{table / peak:.1f}")


def _sweep_seconds(axes: dict[str, Any], **options: Any) -> float:
    import blueprint_nb as bp

    return _best(lambda: bp.sweep(MODEL, CALIBRATED_SYSTEM, **axes, **options), 3)


def _request() -> None:
    import blueprint_nb as bp
    from blueprint_nb.analysis import estimate_inference_phase
    from blueprint_nb.analysis.lowering import attention_of, lower
    from blueprint_nb.cost import AnalyticalProvider
    from blueprint_nb.ir import PortablePlanIR
    from blueprint_nb.mapping import NetworkTierBinding, TransformerInferenceMappingSpec
    from blueprint_nb.workload import WorkloadBinding

    model, system = bp.load_model(MODEL), bp.load_system(SYSTEM)
    mapping, network = TransformerInferenceMappingSpec(tensor_parallel=8), NetworkTierBinding()
    provider = AnalyticalProvider("system-evidence")
    lowered = lower(model, mapping, "float16", attention_of(model, None))
    workload = WorkloadBinding.decode(batch_size=8, context_tokens=1024, datatype="float16")

    def request() -> None:
        estimate = bp.estimate(
            model, system, tensor_parallel=8, batch_size=8, prompt_tokens=1024, generated_tokens=STEPS + 1
        )
        assert len(estimate.decode_digests) == len(estimate.decode_seconds) == STEPS

    def phase() -> None:
        plan = PortablePlanIR(template=lowered.plan, workload=workload)
        estimate_inference_phase(lowered.implementation.bind(plan), system, network, provider)

    request_seconds, phase_seconds = _best(request), _best(phase, 50)
    _print(f"request of {STEPS:,} decode steps, with their digests", f"{1e3 * request_seconds:,.1f} ms")
    _print("one phase, its plan made, bound and priced", f"{1e6 * phase_seconds:,.0f} µs")
    _print("request / phase", f"{request_seconds / phase_seconds:,.0f}", f"{TARGET_RATIO}")


def _imports() -> None:
    runs = [[float(part) for part in _child(IMPORT).split()] for _ in range(7)]
    bare, engine, first = (statistics.median(column) for column in zip(*runs, strict=True))
    _print("import blueprint_nb", f"{bare:.3f} s", f"{TARGET_IMPORT_SECONDS} s")
    _print("  with the engine, which loads when first used", f"{engine:.3f} s", f"{TARGET_IMPORT_SECONDS} s")
    _print("  to the first estimate", f"{first:.3f} s")


def _memory(points: int) -> None:
    axes = _axes(points)
    bare, engine, peak = (int(part) for part in _child(MEMORY, json.dumps(axes)).split())
    _print("memory (RSS) after import blueprint_nb", _mib(bare))
    _print("  with the engine", _mib(engine))
    _print(f"  at the peak of a sweep of {_count(axes):,} points", _mib(peak))


def _best(work: Callable[[], object], times: int = 5) -> float:
    """Processor seconds of the fastest of several runs, after one that is not counted."""
    work()
    seconds = []
    for _ in range(times):
        start = process_time()
        work()
        seconds.append(process_time() - start)
    return min(seconds)


def _child(code: str, *arguments: str) -> str:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _mib(count: int) -> str:
    return f"{count / 2**20:,.0f} MiB"


def _print(name: str, measured: str, target: str = "") -> None:
    print(f"{name:<52}{measured:>18}{target:>18}".rstrip())


if __name__ == "__main__":
    main()
