"""Downloads from a hub on loopback, with its faults, and what is said of them."""

import hashlib
import json
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.main import hub_token
from app.models import hub as d
from app.models import transfer
from app.models.catalogue import DownloadCancelled, Model, ModelError, ModelFile, catalogue
from app.models.catalogue import Hub as HubSource
from app.models.locations import folder_of
from app.models.manifest import MANIFEST_NAME, check_against_manifest
from app.models.store import get_model
from tests.support.hub import Hub

FILES = {
    "config.json": None,
    "tokenizer_spm_32k_3.model": os.urandom(5_000),
    "tokenizer-e351c8d8-checkpoint125.safetensors": os.urandom(90_000),
    "model.safetensors": os.urandom(700_000),
    "README.md": b"not needed",
    "other.bin": os.urandom(50_000),
}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "remote"
    folder.mkdir()
    for name, data in FILES.items():
        (folder / name).write_bytes(data or json.dumps({"moshi_name": "model.safetensors"}).encode())
    return folder


@pytest.fixture
def hub(repository: Path) -> Iterator[object]:
    with Hub({"SakanaAI/kame": repository}) as running:
        yield running


def whole(folder: Path) -> bool:
    wanted = [name for name in FILES if name not in ("README.md", "other.bin")]
    return all((folder / n).read_bytes() == FILES[n] for n in wanted if FILES[n]) and not list(folder.glob("*.part"))


def stop_within_the_weights(hub, folder: Path) -> None:
    hub.slow, stop = threading.Event(), threading.Event()

    def watch(progress: d.Progress) -> None:
        if progress.file == "model.safetensors" and progress.done_bytes > 200_000:
            stop.set()
            hub.slow.set()

    with pytest.raises(DownloadCancelled, match="stays"):
        threading.Timer(0.5, hub.slow.set).start()
        d.HubDownload(folder, hub=hub.url, progress=watch, cancelled=stop).fetch_repository("SakanaAI/kame")


def test_what_a_talk_needs_comes_whole_with_progress(hub, tmp_path: Path) -> None:
    seen: list[d.Progress] = []
    folder = d.HubDownload(tmp_path / "here", hub=hub.url, progress=seen.append).fetch_repository("SakanaAI/kame")
    assert whole(folder) and not (folder / "README.md").exists() and not (folder / "other.bin").exists()
    done = [progress.done_bytes for progress in seen]
    assert done == sorted(done) and done[-1] == seen[-1].total_bytes == sum(
        (folder / name).stat().st_size for name in FILES if (folder / name).exists()
    )
    assert {p.file for p in seen} >= {"model.safetensors", "tokenizer_spm_32k_3.model"}
    assert any(p.verifying for p in seen)
    assert json.loads((folder / MANIFEST_NAME).read_text())["files"]["model.safetensors"]["size"] == 700_000
    check_against_manifest(folder, thoroughly=True)


def test_a_second_time_nothing_is_fetched_again(hub, tmp_path: Path) -> None:
    d.HubDownload(tmp_path / "here", hub=hub.url).fetch_repository("SakanaAI/kame")
    hub.asked.clear()
    d.HubDownload(tmp_path / "here", hub=hub.url).fetch_repository("SakanaAI/kame")
    assert not [path for path, _ in hub.asked if "model.safetensors" in path]


def test_a_transfer_that_breaks_off_goes_on_where_it_stopped(hub, tmp_path: Path) -> None:
    hub.cut_after = [3_000, 9_999, 80_000, 99_999, 100_000, 300_000]
    folder = d.HubDownload(tmp_path / "here", hub=hub.url).fetch_repository("SakanaAI/kame")
    assert whole(folder)
    ranges = [wanted for path, wanted in hub.asked if path.endswith("model.safetensors") and wanted]
    assert ranges == ["bytes=100000-", "bytes=400000-"]


def test_a_server_without_ranges_starts_again(hub, tmp_path: Path) -> None:
    hub.cut_after, hub.ranges = [2_500, 50_000, 300_000], False
    assert whole(d.HubDownload(tmp_path / "here", hub=hub.url).fetch_repository("SakanaAI/kame"))


def test_a_server_without_ranges_that_cuts_is_given_up(hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "ATTEMPTS", 2)
    hub.cut_after, hub.ranges = [60_000] * 50, False
    with pytest.raises(ModelError, match="again and again"):
        d.HubDownload(tmp_path / "here", hub=hub.url).fetch_repository("SakanaAI/kame")


def test_a_part_of_another_version_is_never_gone_on_with(hub, repository: Path, tmp_path: Path) -> None:
    stop_within_the_weights(hub, tmp_path / "here")
    [part] = (tmp_path / "here").glob("model.safetensors.*.part")
    assert part.stat().st_size > 0
    (repository / "model.safetensors").write_bytes(b"y" * 700_000)
    folder = d.HubDownload(tmp_path / "here", hub=hub.url).fetch_repository("SakanaAI/kame")
    assert (folder / "model.safetensors").read_bytes() == b"y" * 700_000
    assert not list(folder.glob("*.part"))


def test_a_token_is_not_sent_in_clear(hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret-of-mine")
    get_model("kame", lambda words, share: None, folder=str(tmp_path / "here"), mirror=hub.url, token=hub_token)
    assert hub.tokens == {""}


def test_a_network_that_breaks_is_not_the_servers_fault(hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("ATTEMPTS", 1), ("TIMEOUT", 0.3), ("LEAST_PROGRESS", 10**9)):
        monkeypatch.setattr(transfer, name, value)
    hub.slow = threading.Event()
    with pytest.raises(ModelError, match=r"broke off \(ReadTimeout\)"):
        d.HubDownload(tmp_path / "here", hub=hub.url).fetch_repository("SakanaAI/kame")
    hub.slow.set()
    assert whole(d.HubDownload(tmp_path / "here", hub=hub.url).fetch_repository("SakanaAI/kame"))


def test_stopped_it_keeps_what_came_and_goes_on_next_time(hub, tmp_path: Path) -> None:
    stop_within_the_weights(hub, tmp_path / "here")
    assert not (tmp_path / "here" / "model.safetensors").exists()
    hub.asked.clear()
    assert whole(d.HubDownload(tmp_path / "here", hub=hub.url).fetch_repository("SakanaAI/kame"))
    assert not [path for path, _ in hub.asked if path.endswith("checkpoint125.safetensors")]


def test_a_damaged_file_is_deleted_and_named(hub, tmp_path: Path) -> None:
    hub.lie = {"model.safetensors"}
    with pytest.raises(ModelError, match=r"model\.safetensors came damaged.*SHA-256"):
        d.HubDownload(tmp_path / "here", hub=hub.url).fetch_repository("SakanaAI/kame")
    assert not list((tmp_path / "here").glob("model.safetensors*"))
    hub.lie = set()
    assert whole(d.HubDownload(tmp_path / "here", hub=hub.url).fetch_repository("SakanaAI/kame"))


def test_a_file_that_was_altered_since_is_fetched_again(hub, tmp_path: Path) -> None:
    folder = d.HubDownload(tmp_path / "here", hub=hub.url).fetch_repository("SakanaAI/kame")
    (folder / "model.safetensors").write_bytes(b"x" * 700_000)
    assert whole(d.HubDownload(folder, hub=hub.url).fetch_repository("SakanaAI/kame"))


@pytest.mark.parametrize(
    ("status", "words"), [(401, "Accept its terms"), (403, "HF_TOKEN"), (404, "any more"), (503, "HTTP 503")]
)
def test_a_refusal_is_a_sentence(hub, tmp_path: Path, status: int, words: str) -> None:
    hub.refuse = status
    with pytest.raises(ModelError, match=words):
        d.HubDownload(tmp_path / "here", hub=hub.url).fetch_repository("SakanaAI/kame")


def test_without_a_network_or_a_right_name_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="can't be reached"):
        d.HubDownload(tmp_path / "here", hub="http://127.0.0.1:9").fetch_repository("SakanaAI/kame")
    with pytest.raises(ModelError, match="form owner/name"):
        d.HubDownload(tmp_path / "here", hub="http://127.0.0.1:9").fetch_repository("not a/valid/name")


def test_no_room_is_said_before_anything_comes(hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**12, 10**12, 600_000))
    with pytest.raises(ModelError, match=r"needs 0\.0 GB more, and 0\.0 GB are free"):
        d.HubDownload(tmp_path / "here", hub=hub.url).fetch_repository("SakanaAI/kame")
    assert not [path for path, _ in hub.asked if path.endswith(".safetensors")]


def test_a_full_disk_is_said_and_what_came_stays(hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = transfer.FileTransfer.fetch

    def full(self, file, report):  # type: ignore[no-untyped-def]
        if file.name == "model.safetensors":
            raise OSError(28, "No space left on device")
        return real(self, file, report)

    monkeypatch.setattr(transfer.FileTransfer, "fetch", full)
    with pytest.raises(ModelError, match="disk ran full"):
        d.HubDownload(tmp_path / "here", hub=hub.url).fetch_repository("SakanaAI/kame")
    assert (tmp_path / "here" / "tokenizer_spm_32k_3.model").exists()


def test_a_file_of_another_repository_comes_from_there(repository: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    name = "tokenizer-e351c8d8-checkpoint125.safetensors"
    (repository / name).rename(other / name)
    (repository / "config.json").write_text(json.dumps({"mimi_name": f"hf://kyutai/moshiko/{name}"}))
    with Hub({"SakanaAI/kame": repository, "kyutai/moshiko": other}) as hub:
        assert whole(d.HubDownload(tmp_path / "here", hub=hub.url).fetch_repository("SakanaAI/kame"))


def test_each_hub_has_a_token_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_of-the-hub-alone")
    monkeypatch.setenv("KAME_KEY_MIRROR_EXAMPLE", "of-the-mirror-alone")
    assert hub_token("https://huggingface.co") == "hf_of-the-hub-alone"
    assert hub_token("https://mirror.example") == "of-the-mirror-alone"
    for other in (
        "https://huggingface.co.evil.example",
        "https://evil.example/huggingface.co",
        "http://huggingface.co",
    ):
        assert hub_token(other) == ""


def test_a_pinned_model_is_fetched_without_a_token(hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    pinned = next(
        model for model in catalogue().values() if isinstance(model.source, HubSource) and model.source.revision
    )
    monkeypatch.setattr(d.HubDownload, "fetch_pinned", lambda self, model: asked.append(str(self._token)) or tmp_path)
    monkeypatch.setattr("app.models.store.folder_of", lambda model: tmp_path / "here")
    monkeypatch.setattr("app.models.store.model_path", lambda key: tmp_path)
    get_model(pinned.key, lambda words, share: None, mirror="https://mirror.example", token=lambda address: "secret")
    assert asked == ["None"]


def test_a_token_goes_to_the_hub_and_nowhere_else(hub, tmp_path: Path) -> None:
    d.HubDownload(tmp_path / "here", hub=hub.url, token="hf_secret-of-mine").fetch_repository("SakanaAI/kame")
    assert hub.tokens == {"Bearer hf_secret-of-mine"}
    for file in (tmp_path / "here").rglob("*"):
        assert b"hf_secret-of-mine" not in file.read_bytes()


def test_the_catalogue_names_folders_that_every_system_takes() -> None:
    for model in catalogue().values():
        assert not set(folder_of(model).name) & set('<>:"/\\|?*')


def pinned(**changed: str) -> Model:
    """A model of two files in a repository on the loopback hub. `changed`: other digests, by file."""
    files = []
    for name, content in VOICE.items():
        digest = changed.get(name, hashlib.sha256(content).hexdigest())
        files.append(ModelFile(name.rpartition("/")[2], len(content), digest, (name,)))
    source = HubSource("voices/all", "abc123")
    return Model("v", "tts", "V", "piper", ("en",), "CC0-1.0", source, tuple(files), main="v.onnx")


VOICE = {"en/v.onnx": b"weights " * 4000, "en/v.onnx.json": b"{}" * 100}


@pytest.fixture
def voices(tmp_path: Path) -> Iterator[Hub]:
    for name, content in VOICE.items():
        file = tmp_path / "voices" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    with Hub({"voices/all": tmp_path / "voices"}) as running:
        yield running


def test_a_pinned_model_comes_without_a_listing_and_at_its_revision(voices: Hub, tmp_path: Path) -> None:
    folder = d.HubDownload(tmp_path / "here", hub=voices.url).fetch_pinned(pinned())
    assert {f.name: f.read_bytes() for f in folder.glob("v*")} == {k.rpartition("/")[2]: v for k, v in VOICE.items()}
    assert [path for path, _ in voices.asked] == [f"voices/all/resolve/abc123/{name}" for name in VOICE]


def test_a_pinned_model_of_another_digest_is_refused_and_deleted(voices: Hub, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="came damaged: its SHA-256"):
        d.HubDownload(tmp_path / "here", hub=voices.url).fetch_pinned(pinned(**{"en/v.onnx": "0" * 64}))
    assert not list((tmp_path / "here").glob("*"))
