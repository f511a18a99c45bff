"""Where the measurements of a comparison come from, and that no estimate could have seen them."""

from __future__ import annotations

from ..analysis.vidur import load_manifest, slice_names
from ..analysis.vidur.slices import SliceManifest
from ..validation import VidurExperimentReport
from .error_sentences import FLAGS
from .facts import Fact

_UNDECLARED = "not said by the files; Vidur's own profiles are under MIT"


def provenance_facts(report: VidurExperimentReport) -> list[Fact]:
    """What was measured, from which files and revisions, under which licence, and the flags of the experiment."""
    baseline = report.baseline
    facts = [("Measured model", baseline.model_name), ("Measured hardware", baseline.hardware_name)]
    if baseline.network_name != baseline.hardware_name:
        facts.append(("Measured network", baseline.network_name))
    if baseline.attention_backend is not None:
        facts.append(("Attention", f"{baseline.attention_backend}, KV cache in blocks of {baseline.block_size} tokens"))
    return [
        *facts,
        *_source(report),
        ("Baseline revision", report.baseline_revision),
        *((flag, str(getattr(report, flag)).lower()) for flag in FLAGS),
    ]


def _source(report: VidurExperimentReport) -> list[Fact]:
    manifest = _manifest(report)
    revision = ("Source revision", report.baseline.source_revision or "not given")
    if manifest is None:
        files = [(f"File {kind}", f"SHA-256 {sha256}") for kind, sha256 in report.baseline_files.items()]
        return [revision, ("Licence", _UNDECLARED), *files]
    files = [
        (f"File {kind}", f"{file.upstream_path}, blob {file.upstream_blob}; of these rows SHA-256 {file.sha256}")
        for kind, file in manifest.files.items()
    ]
    return [
        ("Source", manifest.source),
        revision,
        ("Licence", manifest.licence),
        ("Rows", manifest.projection),
        *files,
    ]


def _manifest(report: VidurExperimentReport) -> SliceManifest | None:
    """Of the slice that ships with the project, where the files are its files."""
    for name in slice_names():
        manifest = load_manifest(name)
        if {kind: file.sha256 for kind, file in manifest.files.items()} == dict(report.baseline_files):
            return manifest
    return None
