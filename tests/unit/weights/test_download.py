"""Downloads from a hub on loopback, with its faults, and what is said of them."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.weights import download as d
from app.weights.catalogue import PUBLISHED, folder_of
from app.weights.errors import DownloadCancelled, WeightsError
from app.weights.layout import MANIFEST_NAME, check_against_manifest

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
    from tests.support.hub import Hub

    with Hub({"SakanaAI/kame": repository}) as running:
        yield running


def whole(folder: Path) -> bool:
    wanted = [name for name in FILES if name not in ("README.md", "other.bin")]
    return all((folder / n).read_bytes() == FILES[n] for n in wanted if FILES[n]) and not list(folder.glob("*.part"))


def test_what_a_talk_needs_comes_whole_with_progress(hub, tmp_path: Path) -> None:
    seen: list[d.Progress] = []
    folder = d.download("SakanaAI/kame", tmp_path / "here", hub=hub.url, progress=seen.append)
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
    d.download("SakanaAI/kame", tmp_path / "here", hub=hub.url)
    hub.asked.clear()
    d.download("SakanaAI/kame", tmp_path / "here", hub=hub.url)
    assert not [path for path, _ in hub.asked if "model.safetensors" in path]


def test_a_transfer_that_breaks_off_goes_on_where_it_stopped(hub, tmp_path: Path) -> None:
    hub.cut_after = [3_000, 9_999, 80_000, 99_999, 100_000, 300_000]
    folder = d.download("SakanaAI/kame", tmp_path / "here", hub=hub.url)
    assert whole(folder)
    ranges = [wanted for path, wanted in hub.asked if path.endswith("model.safetensors") and wanted]
    assert ranges == ["bytes=100000-", "bytes=400000-"]


def test_a_server_without_ranges_begins_anew(hub, tmp_path: Path) -> None:
    hub.cut_after, hub.ranges = [2_500, 50_000, 300_000], False
    assert whole(d.download("SakanaAI/kame", tmp_path / "here", hub=hub.url))


def test_a_server_without_ranges_that_always_cuts_at_the_same_place_is_given_up(
    hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(d, "ATTEMPTS", 2)
    hub.cut_after, hub.ranges = [60_000] * 50, False
    with pytest.raises(WeightsError, match="again and again"):
        d.download("SakanaAI/kame", tmp_path / "here", hub=hub.url)


def test_a_part_of_another_version_is_never_gone_on_with(hub, repository: Path, tmp_path: Path) -> None:
    hub.slow, stop = threading.Event(), threading.Event()

    def watch(progress: d.Progress) -> None:
        if progress.file == "model.safetensors" and progress.done_bytes > 200_000:
            stop.set()
            hub.slow.set()

    with pytest.raises(DownloadCancelled):
        threading.Timer(0.5, hub.slow.set).start()
        d.download("SakanaAI/kame", tmp_path / "here", hub=hub.url, progress=watch, cancelled=stop)
    [part] = (tmp_path / "here").glob("model.safetensors.*.part")
    assert part.stat().st_size > 0
    (repository / "model.safetensors").write_bytes(b"y" * 700_000)
    folder = d.download("SakanaAI/kame", tmp_path / "here", hub=hub.url)
    assert (folder / "model.safetensors").read_bytes() == b"y" * 700_000
    assert not list(folder.glob("*.part"))


def test_files_may_lie_in_folders(hub, repository: Path, tmp_path: Path) -> None:
    (repository / "config.json").write_text(json.dumps({"moshi_name": "../model.safetensors"}))
    with pytest.raises(WeightsError, match=r"has no file \.\./model\.safetensors"):
        d.download("SakanaAI/kame", tmp_path / "here", hub=hub.url)


def test_a_token_is_not_sent_in_clear(hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from app.main import get_weights

    monkeypatch.setenv("HF_TOKEN", "hf_secret-of-mine")
    get_weights("kame", str(tmp_path / "here"), hub.url, lambda words, share: None)
    assert hub.tokens == {""}


def test_a_damaged_record_is_a_sentence(hub, tmp_path: Path) -> None:
    folder = d.download("SakanaAI/kame", tmp_path / "here", hub=hub.url)
    for broken in ('{"files": [3]}', '{"files": {"model.safetensors": 3}}', "{}"):
        (folder / MANIFEST_NAME).write_text(broken)
        with pytest.raises(WeightsError, match="is damaged"):
            check_against_manifest(folder)


def test_a_file_that_was_copied_is_hashed_once(hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from app.weights import layout

    folder = d.download("SakanaAI/kame", tmp_path / "here", hub=hub.url)
    os.utime(folder / "model.safetensors")
    hashed: list[str] = []
    real = layout.sha256_of
    monkeypatch.setattr(layout, "sha256_of", lambda path, *rest: hashed.append(path.name) or real(path, *rest))
    assert layout.check_against_manifest(folder, quickly=True) == 4 and not hashed
    for _ in range(2):
        layout.check_against_manifest(folder)
    assert hashed == ["model.safetensors"]


def test_a_server_that_never_sends_the_end_is_given_up(hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(d, "ATTEMPTS", 2)
    hub.cut_after = [0] * 20
    with pytest.raises(WeightsError, match="before it is whole, again and again"):
        d.download("SakanaAI/kame", tmp_path / "here", hub=hub.url)


def test_stopped_it_keeps_what_came_and_goes_on_next_time(hub, tmp_path: Path) -> None:
    hub.slow, stop = threading.Event(), threading.Event()

    def watch(progress: d.Progress) -> None:
        if progress.file == "model.safetensors" and progress.done_bytes > 100_000:
            stop.set()
            hub.slow.set()

    with pytest.raises(DownloadCancelled, match="stays"):
        threading.Timer(0.5, hub.slow.set).start()
        d.download("SakanaAI/kame", tmp_path / "here", hub=hub.url, progress=watch, cancelled=stop)
    assert not (tmp_path / "here" / "model.safetensors").exists()
    hub.asked.clear()
    assert whole(d.download("SakanaAI/kame", tmp_path / "here", hub=hub.url))
    assert not [path for path, _ in hub.asked if path.endswith("checkpoint125.safetensors")]


def test_a_damaged_file_is_deleted_and_named(hub, tmp_path: Path) -> None:
    hub.lie = {"model.safetensors"}
    with pytest.raises(WeightsError, match=r"model\.safetensors came damaged.*SHA-256"):
        d.download("SakanaAI/kame", tmp_path / "here", hub=hub.url)
    assert not list((tmp_path / "here").glob("model.safetensors*"))
    hub.lie = set()
    assert whole(d.download("SakanaAI/kame", tmp_path / "here", hub=hub.url))


def test_a_file_that_was_altered_since_is_fetched_again(hub, tmp_path: Path) -> None:
    folder = d.download("SakanaAI/kame", tmp_path / "here", hub=hub.url)
    (folder / "model.safetensors").write_bytes(b"x" * 700_000)
    assert whole(d.download("SakanaAI/kame", folder, hub=hub.url))


@pytest.mark.parametrize(
    ("status", "words"), [(401, "Accept its terms"), (403, "HF_TOKEN"), (404, "no weights called"), (503, "HTTP 503")]
)
def test_a_refusal_is_a_sentence(hub, tmp_path: Path, status: int, words: str) -> None:
    hub.refuse = status
    with pytest.raises(WeightsError, match=words):
        d.download("SakanaAI/kame", tmp_path / "here", hub=hub.url)


def test_without_a_network_or_a_right_name_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="can't be reached"):
        d.download("SakanaAI/kame", tmp_path / "here", hub="http://127.0.0.1:9")
    with pytest.raises(WeightsError, match="form owner/name"):
        d.download("not a/valid/name", tmp_path / "here", hub="http://127.0.0.1:9")


def test_no_room_is_said_before_anything_comes(hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(10**12, 10**12, 600_000))
    with pytest.raises(WeightsError, match=r"needs 0\.0 GB more, and 0\.0 GB are free"):
        d.download("SakanaAI/kame", tmp_path / "here", hub=hub.url)
    assert not [path for path, _ in hub.asked if path.endswith(".safetensors")]


def test_a_disk_that_runs_full_is_said_and_what_came_stays(hub, tmp_path: Path,
                                                           monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    real = d._transfer

    def full(client, url, headers, file, part, *rest):  # type: ignore[no-untyped-def]
        if file.name == "model.safetensors":
            raise OSError(28, "No space left on device")
        return real(client, url, headers, file, part, *rest)

    monkeypatch.setattr(d, "_transfer", full)
    with pytest.raises(WeightsError, match="disk ran full"):
        d.download("SakanaAI/kame", tmp_path / "here", hub=hub.url)
    assert (tmp_path / "here" / "tokenizer_spm_32k_3.model").exists()


def test_a_file_of_another_repository_comes_from_there(repository: Path, tmp_path: Path) -> None:
    from tests.support.hub import Hub

    other = tmp_path / "other"
    other.mkdir()
    name = "tokenizer-e351c8d8-checkpoint125.safetensors"
    (repository / name).rename(other / name)
    (repository / "config.json").write_text(json.dumps({"mimi_name": f"hf://kyutai/moshiko/{name}"}))
    with Hub({"SakanaAI/kame": repository, "kyutai/moshiko": other}) as hub:
        assert whole(d.download("SakanaAI/kame", tmp_path / "here", hub=hub.url))


def test_a_token_goes_to_the_hub_and_nowhere_else(hub, tmp_path: Path) -> None:
    d.download("SakanaAI/kame", tmp_path / "here", hub=hub.url, token="hf_secret-of-mine")
    assert hub.tokens == {"Bearer hf_secret-of-mine"}
    for file in (tmp_path / "here").rglob("*"):
        assert b"hf_secret-of-mine" not in file.read_bytes()


def test_the_catalogue_names_folders_that_every_system_takes(tmp_path: Path) -> None:
    for known in PUBLISHED.values():
        folder = folder_of(known.key, tmp_path)
        assert folder.parent == tmp_path and not set(folder.name) & set('<>:"/\\|?*')
