"""Hubs that say or send something strange, and downloads that come at the same time."""

import gzip
import hashlib
import json
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from app.models import transfer
from app.models.catalogue import DownloadCancelled, ModelError
from app.models.hub import LOCK_NAME, HubDownload, list_files
from app.models.layout import CONFIG_NAME, LM_NAME, MIMI_NAME, TOKENIZER_NAME, read_layout
from app.models.manifest import MANIFEST_NAME, check_against_manifest
from app.models.transfer import FileTransfer, Progress, RemoteFile
from app.platform.files import locked
from app.untrusted.limits import HUB_LISTING, MB
from tests.support.hub import Hub
from tests.support.servers import Act, serving, telling, without_end


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
    "name", ["", "/", "a", "a/b/c", "../b", "a/..", "a/b?x=1", "a/b#c", "a b/c", "a/\x00", "a/%2e%2e"]
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


def repository(folder: Path) -> Path:
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
    with Hub({"a/b": repository(tmp_path / "remote")}) as hub:
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

    with Hub({"a/b": repository(tmp_path / "remote")}) as hub:
        HubDownload(here, hub=hub.url, progress=progress).fetch_repository("a/b")
    child.wait()
    child.stdout.close()
    assert told[0].waiting and told[-1].share == 1
    assert {path.name for path in here.iterdir()} == {CONFIG_NAME, TOKENIZER_NAME, MIMI_NAME, LM_NAME, MANIFEST_NAME}
