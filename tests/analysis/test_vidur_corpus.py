"""Finding what a checkout of Vidur's profiles holds, and the slices that ship with the project."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from vidur_profiles import ATTENTION, COMPUTE, MESSAGE, times, write

from blueprint_nb import catalog
from blueprint_nb.analysis import VidurCorpus, load_slice
from blueprint_nb.analysis.vidur import load_manifest, slice_names, slices
from blueprint_nb.errors import BlueprintError, IntegrityError, InvalidInputError, ProfileError, UnknownNameError


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Both layouts of Vidur, of two machines."""
    root = tmp_path / "vidur" / "data" / "profiling"
    files = {
        "compute/a100/meta-llama/Llama-2-7b-hf/mlp.csv": {**COMPUTE, **times("add")},
        "compute/a100/meta-llama/Llama-2-7b-hf/attention.csv": {**ATTENTION, **times("attn_decode", ms=0.02)},
        "compute/h100/meta-llama/Llama-2-7b-hf/linear_op.csv": {**COMPUTE, **times("add")},
        "attention/h100/attention.csv": {**ATTENTION, **times("attn_decode", ms=0.03)},
        "network/a100_dgx/all_reduce.csv": {**MESSAGE, **times("all_reduce")},
    }
    for name, row in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        write(root / name, [row])
    return tmp_path / "vidur"


@pytest.mark.parametrize("folder", ["", "data", "data/profiling"])
def test_a_checkout_is_found_from_any_of_its_folders(checkout: Path, folder: str):
    corpus = VidurCorpus(checkout / folder)
    assert [(one.hardware, one.model) for one in corpus.entries] == [
        ("a100", "meta-llama/Llama-2-7b-hf"),
        ("h100", "meta-llama/Llama-2-7b-hf"),
    ]


@pytest.mark.parametrize("hardware", ["a100", "a100_80g", "a100_80g_pcie"])
@pytest.mark.parametrize("model", ["meta-llama/Llama-2-7b-hf", "llama-2-7b"])
def test_a_baseline_is_asked_for_by_vidurs_names_or_the_projects(checkout: Path, hardware: str, model: str):
    oracle = VidurCorpus(checkout).baseline(hardware, model)
    assert (oracle.identity.hardware_name, oracle.identity.model_name) == ("a100", "meta-llama/Llama-2-7b-hf")
    assert (oracle.identity.attention_backend, oracle.identity.block_size) == ("FLASH_ATTENTION", 16)
    assert oracle.lookup("attention_core", ATTENTION).seconds == pytest.approx(2e-05)


def test_a_file_of_a_machine_serves_all_its_models(checkout: Path):
    oracle = VidurCorpus(checkout).baseline("h100", "llama-2-7b")
    assert oracle.lookup("attention_core", ATTENTION).seconds == pytest.approx(3e-05)
    assert oracle.lookup("add", COMPUTE).is_matched


def test_the_collectives_of_a_machine_are_asked_for_by_name(checkout: Path):
    oracle = VidurCorpus(checkout).baseline("a100", "llama-2-7b", network="a100_dgx")
    assert oracle.identity.network_name == "a100_dgx"
    assert sorted(oracle.files) == ["all_reduce", "attention", "compute"]


def test_a_folder_of_collectives_alone_has_networks_and_no_models(checkout: Path):
    shutil.rmtree(checkout / "data/profiling/compute")
    shutil.rmtree(checkout / "data/profiling/attention")
    corpus = VidurCorpus(checkout)
    assert (corpus.entries, corpus.networks) == ((), ("a100_dgx",))


def test_of_two_compute_files_the_newer_name_is_read(checkout: Path):
    for folder in ("a100", "h100"):
        path = checkout / "data/profiling/compute" / folder / "meta-llama/Llama-2-7b-hf"
        write(path / "mlp.csv", [{**COMPUTE, **times("add", ms=0.01)}])
        write(path / "linear_op.csv", [{**COMPUTE, **times("add", ms=0.02)}])
    corpus = VidurCorpus(checkout)
    assert {one.compute.name for one in corpus.entries if one.compute} == {"linear_op.csv"}
    assert corpus.baseline("a100", "llama-2-7b").lookup("add", COMPUTE).seconds == pytest.approx(2e-05)


def test_the_frame_says_what_is_held_and_what_can_not_be_read(checkout: Path):
    pointer = checkout / "data/profiling/compute/a100/meta-llama/Llama-2-7b-hf/attention.csv"
    pointer.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 7\n")
    first, second = VidurCorpus(checkout).frame.to_dicts()
    assert (first["hardware"], first["models"], first["tensor_parallel"]) == ("a100", ["llama-2-7b"], [1])
    assert (first["compute_rows"], first["attention_rows"]) == (1, None)
    assert "git lfs pull" in first["fault"]
    assert (second["systems"], second["fault"]) == (["h100_80g_nvl8", "h100_80g_sxm"], "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a10", "llama-2-7b"), "hardware must be a100 or h100. Got 'a10'. Did you mean a100?"),
        (("a100", "gpt-5"), "model must be meta-llama/Llama-2-7b-hf. Got 'gpt-5'."),
    ],
)
def test_what_a_corpus_does_not_hold_is_said(checkout: Path, arguments: tuple[str, str], message: str):
    with pytest.raises(UnknownNameError) as caught:
        VidurCorpus(checkout).baseline(*arguments)
    assert str(caught.value) == message


def test_a_network_that_a_corpus_does_not_hold_is_said(checkout: Path):
    with pytest.raises(UnknownNameError, match="network must be a100_dgx"):
        VidurCorpus(checkout).baseline("a100", "llama-2-7b", network="h100_dgx")


def test_a_backend_is_chosen_where_a_file_has_several(checkout: Path):
    path = checkout / "data/profiling/attention/h100/attention.csv"
    rows = [{**ATTENTION, **times("attn_decode"), "attention_backend": name} for name in ("FLASHINFER", "XFORMERS")]
    write(path, rows)
    with pytest.raises(InvalidInputError) as caught:
        VidurCorpus(checkout).baseline("h100", "llama-2-7b")
    expected = "attention_backend must be chosen: attention.csv has FLASHINFER, XFORMERS. Got None."
    assert str(caught.value) == expected
    oracle = VidurCorpus(checkout).baseline("h100", "llama-2-7b", attention_backend="XFORMERS")
    assert oracle.identity.attention_backend == "XFORMERS"


def test_a_folder_without_profiles_is_said(tmp_path: Path):
    with pytest.raises(ProfileError) as caught:
        VidurCorpus(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path} holds no Vidur profiles. Name the folder data/profiling of a checkout of Vidur."
    )


@pytest.mark.parametrize("root", [None, 7, b"bytes"])
def test_what_is_no_folder_is_said(root: object):
    with pytest.raises(InvalidInputError, match="root must be the path of a folder"):
        VidurCorpus(root)  # type: ignore[arg-type]


class TestSlices:
    @pytest.fixture
    def profiles(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        copy = tmp_path / "profiles"
        shutil.copytree(catalog.profiles_folder() / "vidur", copy / "vidur")
        monkeypatch.setattr(slices, "profiles_folder", lambda: copy)
        return copy / "vidur" / "phi2_a100_tp1"

    def test_the_embedded_slice_says_where_it_comes_from(self):
        assert slice_names() == ("phi2_a100_tp1",)
        manifest = load_manifest()
        assert manifest.source_revision == "8383d2935bc62723a212090baa9f98ada206fc14"
        assert manifest.files["attention"].upstream_blob == "56c1d8c06ce1f08336fe4e82f445ec1249f5ca71"
        assert manifest.files["compute"].upstream_blob == "5db2fe4390c7fe2a46e545ab8703f3fc37617a7e"
        assert manifest.licence == "MIT"
        assert "rows" in manifest.projection.lower()

    def test_a_slice_is_a_baseline(self):
        oracle = load_slice()
        assert (oracle.identity.model_name, oracle.identity.hardware_name) == ("microsoft/phi-2", "a100")
        assert len(oracle.files["attention"].table) == 4
        assert len(oracle.files["compute"].table) == 2

    def test_an_unknown_slice_is_said(self):
        with pytest.raises(UnknownNameError, match="slice must be phi2_a100_tp1"):
            load_slice("phi3")

    def test_a_changed_file_is_refused(self, profiles: Path):
        path = profiles / "mlp.csv"
        path.write_text(path.read_text().replace("0.0505", "0.0506"))
        with pytest.raises(
            IntegrityError, match=r"mlp\.csv must be the file of the manifest, SHA-256 6fc488f0"
        ) as caught:
            load_slice()
        assert str(caught.value).endswith("Restore the file.")

    @pytest.mark.parametrize("text", ["", "{", "[]", "7", '{"name": 7}', "null"])
    def test_a_broken_manifest_is_said(self, profiles: Path, text: str):
        (profiles / "manifest.json").write_text(text)
        with pytest.raises(BlueprintError, match=r"manifest\.json"):
            load_slice()

    def test_a_file_that_is_gone_is_said(self, profiles: Path):
        (profiles / "mlp.csv").unlink()
        with pytest.raises(ProfileError, match=r"mlp\.csv"):
            load_slice()
