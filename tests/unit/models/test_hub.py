"""Downloads from hubs on loopback: their faults, what is strange in them, and downloads at the same time."""

import gzip
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from app.main import hub_token
from app.models import hub as d
from app.models import transfer
from app.models.catalogue import DownloadCancelled, Model, ModelError, ModelFile, catalogue
from app.models.catalogue import Hub as HubSource
from app.models.hub import LOCK_NAME, HubDownload, list_files
from app.models.layout import CONFIG_NAME, LM_NAME, MIMI_NAME, TOKENIZER_NAME, read_layout
from app.models.locations import folder_of
from app.models.manifest import MANIFEST_NAME, check_against_manifest
from app.models.store import get_model
from app.models.transfer import FileTransfer, Progress, RemoteFile
from app.platform.files import locked
from app.untrusted.limits import HUB_LISTING, MB
from tests.support.hub import Hub
from tests.support.servers import Act, serving, telling, without_end
from tests.support.tables import cases

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


def test_what_is_here_is_not_fetched_again_unless_it_was_altered(hub, tmp_path: Path) -> None:
    d.HubDownload(tmp_path / "here", hub=hub.url).fetch_repository("SakanaAI/kame")
    hub.asked.clear()
    d.HubDownload(tmp_path / "here", hub=hub.url).fetch_repository("SakanaAI/kame")
    assert not [path for path, _ in hub.asked if "model.safetensors" in path]
    folder = d.HubDownload(tmp_path / "here", hub=hub.url).fetch_repository("SakanaAI/kame")
    (folder / "model.safetensors").write_bytes(b"x" * 700_000)
    assert whole(d.HubDownload(folder, hub=hub.url).fetch_repository("SakanaAI/kame"))


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


@cases("status, words", (401, "Accept its terms"), (403, "HF_TOKEN"), (404, "any more"), (503, "503"))
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
    pinned = next(one for one in catalogue().values() if isinstance(one.source, HubSource) and one.source.revision)
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


def test_a_pinned_model_comes_at_its_revision_or_not_at_all(tmp_path: Path) -> None:
    for name, content in VOICE.items():
        file = tmp_path / "voices" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    with Hub({"voices/all": tmp_path / "voices"}) as voices:
        folder = d.HubDownload(tmp_path / "here", hub=voices.url).fetch_pinned(pinned())
        wanted = {name.rpartition("/")[2]: content for name, content in VOICE.items()}
        assert {file.name: file.read_bytes() for file in folder.glob("v*")} == wanted
        assert [path for path, _ in voices.asked] == [f"voices/all/resolve/abc123/{name}" for name in VOICE]
        with pytest.raises(ModelError, match="came damaged: its SHA-256"):
            d.HubDownload(tmp_path / "there", hub=voices.url).fetch_pinned(pinned(**{"en/v.onnx": "0" * 64}))
    assert not list((tmp_path / "there").glob("*"))


def listing(row: Any) -> bytes:
    return json.dumps({"sha": "a" * 40, "siblings": [row]}).encode()


def offering(config: bytes, *names: str, asked: list[str] | None = None) -> Act:
    """Returns what a hub does that has this config, and files of one byte. `asked`: keeps the paths of all requests."""

    def act(request: BaseHTTPRequestHandler) -> None:
        if asked is not None:
            asked.append(request.path)
        if request.path.startswith("/api/"):
            sizes = {CONFIG_NAME: len(config)} | dict.fromkeys(names, 1)
            files = [{"rfilename": name, "size": size} for name, size in sizes.items()]
            telling(json.dumps({"sha": "a" * 40, "siblings": files}).encode())(request)
        else:
            telling(config if request.path.endswith(CONFIG_NAME) else b"x")(request)

    return act


ODD = {
    "no json": b"<html>",
    "deep": b'{"siblings": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "files that are a text": b'{"siblings": "config.json"}',
    "files that are numbers": b'{"siblings": [1, 2]}',
    "no name": listing({"size": 1}),
    "a size below zero": listing({"rfilename": "a", "size": -1}),
    "a size with a fraction": listing({"rfilename": "a", "size": 1.5}),
    "an endless size": b'{"siblings": [{"rfilename": "a", "size": 1e999}]}',
    "a huge size": listing({"rfilename": "a", "size": 10**19}),
    "a long number": b'{"siblings": [{"rfilename": "a", "size": ' + b"9" * 10_000 + b"}]}",
    "a digest that is a number": listing({"rfilename": "a", "size": 1, "lfs": {"sha256": 5}}),
}


@pytest.mark.parametrize("body", ODD.values(), ids=ODD)
def test_an_odd_listing_is_a_sentence(body: bytes, tmp_path: Path) -> None:
    with serving(telling(body)) as url, pytest.raises(ModelError, match=r"says about a/b can't be used: it .*Nothing"):
        HubDownload(tmp_path / "here", hub=url).fetch_repository("a/b")
    assert list((tmp_path / "here").iterdir()) == []


@pytest.mark.slow
def test_a_listing_without_end_is_refused(tmp_path: Path) -> None:
    packed = gzip.compress(b" " * 20 * HUB_LISTING.bytes)
    for act in (without_end, telling(packed, Content_Encoding="gzip")):
        with serving(act) as url, pytest.raises(ModelError, match="it is longer than 16 MB"):
            HubDownload(tmp_path / "here", hub=url).fetch_repository("a/b")


def test_a_listing_that_is_cut_or_leads_round_in_circles_is_a_sentence(tmp_path: Path) -> None:
    for act in (telling(b"{", Content_Length="100"), telling(b"", 302, Location="/api/models/a/b")):
        with serving(act) as url, pytest.raises(ModelError, match="can't be reached"):
            HubDownload(tmp_path / "here", hub=url).fetch_repository("a/b")


def test_a_revision_that_could_be_a_path_is_not_taken_over() -> None:
    body = json.dumps({"sha": "../../x", "siblings": [{"rfilename": "a", "size": 0}]}).encode()
    with serving(telling(body)) as url:
        assert list_files("a/b", url, None)["a"].revision == "main"


@pytest.mark.parametrize(
    "name", ["", "/", "a", "a/b/c", "../b", "a/..", "a/b?x=1", "a/b#c", "a b/c", "a/\0", "a/%2e%2e"]
)
def test_a_name_of_no_repository_is_not_asked_for(name: str) -> None:
    with pytest.raises(ModelError, match="form owner/name"):
        list_files(name, "http://127.0.0.1:9", None)


def test_where_the_hub_is_switched_off_the_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelError, match="HF_HUB_OFFLINE is set"):
        list_files("a/b", "http://127.0.0.1:9", None)


BAD_NAMES = [
    r"..\..\x.safetensors",
    "C:x.safetensors",
    "../x.safetensors",
    "/etc/x.safetensors",
    "a//x.safetensors",
    "NUL.safetensors",
    "a/com1.safetensors",
    "x.safetensors.",
    "x*.safetensors",
    f"{'x' * 300}.safetensors",
    "a/" * 30 + "x.safetensors",
    "weights.json",
    "Config.JSON",
]


@pytest.mark.parametrize("name", BAD_NAMES, ids=[repr(name)[:30] for name in BAD_NAMES])
def test_a_name_that_is_not_plain_is_never_written_to(name: str, tmp_path: Path) -> None:
    asked: list[str] = []
    act = offering(json.dumps({"moshi_name": name}).encode(), TOKENIZER_NAME, MIMI_NAME, name, asked=asked)
    with serving(act) as url, pytest.raises(ModelError):
        HubDownload(tmp_path / "here", hub=url).fetch_repository("a/b")
    assert {path.name for path in tmp_path.rglob("*")} == {"here", CONFIG_NAME}
    assert not [path for path in asked if "resolve" in path and not path.endswith(f"/{CONFIG_NAME}")]


@pytest.mark.parametrize("name", BAD_NAMES[:-2], ids=[repr(name)[:30] for name in BAD_NAMES[:-2]])
def test_a_config_or_record_that_names_such_a_file_is_not_followed(name: str, tmp_path: Path) -> None:
    (tmp_path / CONFIG_NAME).write_text(json.dumps({"moshi_name": name}))
    with pytest.raises(ModelError, match=r"outside of its folder|is missing"):
        read_layout(tmp_path)
    (tmp_path / MANIFEST_NAME).write_text(json.dumps({"files": {name: {"size": 1, "sha256": ""}}}))
    with pytest.raises(ModelError, match=r"is damaged|is missing"):
        check_against_manifest(tmp_path)


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    config = json.dumps({"moshi_name": f"hf://c/d/{MIMI_NAME}"}).encode()
    act = offering(config, TOKENIZER_NAME, MIMI_NAME)
    with serving(act) as url, pytest.raises(ModelError, match="names several files"):
        HubDownload(tmp_path / "here", hub=url).fetch_repository("a/b")


@pytest.mark.parametrize(
    "config",
    [b"[]", b"[" * 50_000, b'{"moshi_name": 5}', b'{"lora_name": ["a"]}', b'{"mimi_name": {"a": 1}}', b'{"mimi_name": "hf://"}',
     b'{"mimi_name": "hf://x"}', b'{"mimi_name": "hf://../../x"}', b" " * 2 * MB],
    ids=range(9),
)  # fmt: skip
def test_an_odd_config_is_a_sentence(config: bytes, tmp_path: Path) -> None:
    refused = pytest.raises(ModelError, match=r"Choose other weights|owner/name|has no file")
    with serving(offering(config)) as url, refused:
        HubDownload(tmp_path / "here", hub=url).fetch_repository("a/b")


ODD_FOLDERS = {
    CONFIG_NAME: [
        "[" * 50_000, '{"lm_gen_config": [1]}', '{"lm_gen_config": "abc"}', '{"moshi_name": {}}', "9" * 5_000,
        '{"dim": "wide"}',
    ],
    MIMI_NAME: [
        "[" * 5_000,
        '{"a": {"dtype": [], "shape": [1], "data_offsets": [0, 4]}}',
        '{"a": {"dtype": "F32", "shape": [1], "data_offsets": []}}',
        '{"a": {"dtype": "F32", "shape": [-1, -1], "data_offsets": [0, 4]}}',
        '{"a": {"dtype": "F32", "shape": [' + "9," * 100_000 + '1], "data_offsets": [0, 4]}}',
        '{"a": {"dtype": "F32", "shape": [' + "9" * 5_000 + '], "data_offsets": [0, 4]}}',
    ],
    MANIFEST_NAME: [
        "[" * 50_000, '{"files": ' + "[" * 50 + "]" * 50 + "}", "9" * 5_000, "{}", '{"files": [3]}',
        '{"files": {"a": 3}}', '{"files": {"a": {"size": "x"}}}',
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content"),
    [pytest.param(name, content, id=content[-40:]) for name, contents in ODD_FOLDERS.items() for content in contents],
)
def test_an_odd_file_of_a_folder_is_a_sentence(name: str, content: str, tmp_path: Path) -> None:
    (tmp_path / TOKENIZER_NAME).write_bytes(b"x")
    for file in (LM_NAME, MIMI_NAME):
        (tmp_path / file).write_bytes(len(content).to_bytes(8, "little") + content.encode() + bytes(8))
    if name != MIMI_NAME:
        (tmp_path / name).write_text(content)
    with pytest.raises(ModelError, match=CONFIG_NAME if name == CONFIG_NAME else "is damaged"):
        (check_against_manifest if name == MANIFEST_NAME else read_layout)(tmp_path)


def fetch(url: str, folder: Path, size: int, sha256: str = "") -> None:
    file = RemoteFile("x.bin", "a/b", "x.bin", "main", size, sha256)
    FileTransfer(folder, url, None, threading.Event()).fetch(file, lambda done, verifying: None)


@pytest.mark.parametrize("size", [1, 4096])
def test_what_is_longer_than_announced_is_not_kept(size: int, tmp_path: Path) -> None:
    bomb = gzip.compress(bytes(20 * MB))
    for act in (without_end, telling(bytes(size + 1)), telling(bomb), telling(bomb, Content_Encoding="gzip")):
        with (
            serving(act) as url,
            pytest.raises(ModelError, match=r"does not send x\.bin as it has announced it: it is"),
        ):
            fetch(url, tmp_path, size)
        assert list(tmp_path.iterdir()) == []


def test_an_answer_that_begins_elsewhere_is_not_appended(tmp_path: Path) -> None:
    data = os.urandom(5_000)
    digest = hashlib.sha256(data).hexdigest()
    asked = []

    def act(request: BaseHTTPRequestHandler) -> None:
        asked.append(wanted := request.headers.get("Range", ""))
        if wanted:
            telling(data[:2_000], 206, Content_Range="bytes 0-1999/5000")(request)
        else:
            telling(data)(request)

    (tmp_path / f"x.bin.{digest[:8]}.part").write_bytes(data[:3_000])
    with serving(act) as url:
        fetch(url, tmp_path, 5_000, digest)
    assert asked == ["bytes=3000-", ""] and (tmp_path / "x.bin").read_bytes() == data


def test_a_part_that_nobody_asked_for_is_refused(tmp_path: Path) -> None:
    with (
        serving(telling(b"x" * 10, 206, Content_Range="bytes 5-14/20")) as url,
        pytest.raises(ModelError, match="no whole"),
    ):
        fetch(url, tmp_path, 10)


def test_a_transfer_that_hardly_moves_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "ATTEMPTS", 2)
    asked = []

    def act(request: BaseHTTPRequestHandler) -> None:
        asked.append(start := int(request.headers.get("Range", "bytes=0-")[6:-1]))
        telling(b"x", 206 if start else 200, Content_Range=f"bytes {start}-999/1000", Content_Length="9")(request)

    with serving(act) as url, pytest.raises(ModelError, match="again and again"):
        fetch(url, tmp_path, 1_000)
    assert asked == [0, 1]


def test_a_hub_that_announces_no_size_is_not_asked_for_the_file(tmp_path: Path) -> None:
    with serving(telling(listing({"rfilename": CONFIG_NAME}))) as url, pytest.raises(ModelError, match="how long"):
        HubDownload(tmp_path / "here", hub=url).fetch_repository("a/b")


def test_the_token_goes_to_the_hub_alone(tmp_path: Path) -> None:
    seen = []

    def elsewhere(request: BaseHTTPRequestHandler) -> None:
        seen.append(request.headers.get("Authorization"))
        telling(b"x")(request)

    with serving(elsewhere) as other, serving(telling(b"", 302, Location=f"{other}/x")) as url:
        file = RemoteFile("x.bin", "a/b", "x.bin", "main", 1, "")
        FileTransfer(tmp_path, url, "hf_secret", threading.Event()).fetch(file, lambda done, verifying: None)
    assert seen == [None] and (tmp_path / "x.bin").read_bytes() == b"x"


def test_a_second_request_is_made_to_a_hub_without_encryption_as_the_first(tmp_path: Path) -> None:
    answers = [telling(b"", 503), telling(b"x")]
    with serving(lambda request: answers.pop(0)(request)) as url:
        fetch(url, tmp_path, 1)
    assert not answers


def odd_repository(folder: Path) -> Path:
    folder.mkdir()
    for name, data in (
        (CONFIG_NAME, b"{}"),
        (TOKENIZER_NAME, b"t"),
        (MIMI_NAME, b"m" * 9_000),
        (LM_NAME, bytes(200_000)),
    ):
        (folder / name).write_bytes(data)
    return folder


def test_a_download_waits_for_another_one_of_the_same_model(tmp_path: Path) -> None:
    here, waits, ended = tmp_path / "here", threading.Event(), []
    with Hub({"a/b": odd_repository(tmp_path / "remote")}) as hub:
        hub.slow = threading.Event()

        def second() -> None:
            told: list[Progress] = []

            def progress(one: Progress) -> None:
                told.append(one)
                if one.waiting:
                    waits.set()
                    hub.slow.set()  # type: ignore[union-attr]

            HubDownload(here, hub=hub.url, progress=progress).fetch_repository("a/b")
            ended.append(told)

        def first(progress: Progress) -> None:
            if progress.file == LM_NAME and not thread.is_alive() and not waits.is_set():
                thread.start()

        thread = threading.Thread(target=second)
        HubDownload(here, hub=hub.url, progress=first).fetch_repository("a/b")
        thread.join(60)
        fetched = [path for path, _ in hub.asked if path.endswith(LM_NAME)]
    assert ended and ended[0][0].waiting and waits.is_set()
    assert len(fetched) == 1 and (here / LM_NAME).stat().st_size == 200_000
    assert not list(here.glob("*.lock")) and not list(here.glob("*.part"))


def test_waiting_for_another_download_can_be_cancelled(tmp_path: Path) -> None:
    here, stop = tmp_path / "here", threading.Event()
    here.mkdir()
    with locked(here / LOCK_NAME, lambda: None), pytest.raises(DownloadCancelled):
        HubDownload(here, hub="http://127.0.0.1:9", progress=lambda one: stop.set(), cancelled=stop).fetch_repository(
            "a/b"
        )


def test_the_lock_of_a_download_that_was_killed_is_free(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    code = "import sys, time; from pathlib import Path; from app.platform.files import locked\n"
    code += "with locked(Path(sys.argv[1]), lambda: None): print(flush=True); time.sleep(60)"
    root = Path(__file__).resolve().parents[3]
    child = subprocess.Popen([sys.executable, "-c", code, str(here / LOCK_NAME)], stdout=subprocess.PIPE, cwd=root)
    assert child.stdout is not None and child.stdout.readline()
    told: list[Progress] = []

    def progress(one: Progress) -> None:
        told.append(one)
        child.kill()

    with Hub({"a/b": odd_repository(tmp_path / "remote")}) as hub:
        HubDownload(here, hub=hub.url, progress=progress).fetch_repository("a/b")
    child.wait()
    child.stdout.close()
    assert told[0].waiting and told[-1].share == 1
    assert {path.name for path in here.iterdir()} == {CONFIG_NAME, TOKENIZER_NAME, MIMI_NAME, LM_NAME, MANIFEST_NAME}
