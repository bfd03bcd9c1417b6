"""The tools for files: permitted ones can be listed, read and searched, and no path leads to any other."""

import asyncio
import os
import shutil
import sys
import threading
import time
from pathlib import Path

import pytest

from app.tools import files
from app.tools.base import ToolError
from app.tools.files import files_tools
from tests.support.tables import cases

SECRET = "the secret of the outside"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A permitted folder with a few files, beside one that is not permitted."""
    folder = tmp_path / "notes"
    (folder / "trips" / "far").mkdir(parents=True)
    (folder / "list.txt").write_bytes(b"milk\nBread and butter\n")
    (folder / "trips" / "far" / "Lisbon.md").write_text("# Lisbon\n\nTake the tram to the bread museum.\n", "utf-8")
    (folder / "trips" / "old.txt").write_bytes("Café in Köln\r\nzwei".encode("cp1252"))
    (folder / "trips" / "wide.txt").write_bytes("größer".encode("utf-16"))
    (folder / "photo.jpg").write_bytes(b"\xff\xd8\xff\xe0\x00\x10JFIF bread")
    (folder / "empty.txt").touch()
    (folder / ".env").write_text("KEY=bread", "utf-8")
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("bread", "utf-8")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text(SECRET, "utf-8")
    return folder


async def _call(folder: Path | list[Path], tool: str, **arguments: object) -> str:
    folders = folder if isinstance(folder, list) else [folder]
    [found] = [each for each in files_tools(folders) if each.spec.name == tool]
    return await found.call(arguments)


async def test_a_folder_is_listed_without_its_hidden_files(notes: Path) -> None:
    told = await _call(notes, "list_files")
    assert told.split("\n") == [
        "notes/empty.txt (0 bytes)",
        "notes/list.txt (22 bytes)",
        "notes/photo.jpg (16 bytes)",
        "notes/trips/",
    ]
    assert "notes/trips/far/Lisbon.md" in await _call(notes, "list_files", path="notes/trips/far/")


async def test_a_full_folder_is_listed_in_part(notes: Path) -> None:
    for number in range(200):
        (notes / f"z{number}").touch()
    assert "… and 124 more" in await _call(notes, "list_files")


@cases(
    "path, text",
    ("notes/list.txt", "milk\nBread and butter\n"),
    ("list.txt", "milk\nBread and butter\n"),
    ("NOTES\\list.txt", "milk\nBread and butter\n"),
    ("./notes//trips/./old.txt", "Café in Köln\nzwei"),
    ("notes/trips/wide.txt", "größer"),
    ("notes/empty.txt", "“notes/empty.txt” is empty."),
)
async def test_text_is_read(notes: Path, path: str, text: str) -> None:
    assert await _call(notes, "read_file", path=path) == text


async def test_what_is_no_text_is_said(notes: Path) -> None:
    with pytest.raises(ToolError, match="no text file"):
        await _call(notes, "read_file", path="notes/photo.jpg")
    with pytest.raises(ToolError, match="is a folder"):
        await _call(notes, "read_file", path="notes/trips")
    with pytest.raises(ToolError, match="is a file"):
        await _call(notes, "list_files", path="notes/list.txt")
    with pytest.raises(ToolError, match="There is no “notes/none"):
        await _call(notes, "read_file", path="none.txt")
    with pytest.raises(ToolError, match="There is no"):
        await _call(notes, "read_file", path="list.txt/more")


async def test_a_long_file_is_read_page_by_page(notes: Path) -> None:
    text = "".join(f"line {number} ä\n" for number in range(1_000))
    (notes / "long.txt").write_text(text, "utf-8")
    read, offset = "", 0
    while True:
        page = await _call(notes, "read_file", path="long.txt", offset=offset)
        assert len(page) < 4_000
        page, _, note = page.rpartition("\n[")
        read += page
        if "offset" not in note:
            break
        offset = int(note.rstrip("]").rpartition(" ")[2])
    assert read == text
    with pytest.raises(ToolError, match="offset must be 0 to"):
        await _call(notes, "read_file", path="long.txt", offset=len(text))
    with pytest.raises(ToolError, match="offset must be 0 to"):
        await _call(notes, "read_file", path="long.txt", offset=-1)


async def test_a_huge_file_is_read_up_to_a_bound(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "TOOL_FILE_BYTES", 1_001)  # in the middle of a character
    (notes / "huge.txt").write_text("ä" * 5_000, "utf-8")
    told = await _call(notes, "read_file", path="huge.txt")
    assert told.startswith("ä" * 500 + "\n[") and "no more than" in told


async def test_words_are_found_in_names_and_lines(notes: Path) -> None:
    told = await _call(notes, "find_in_files", text="BREAD")
    assert told.split("\n") == [
        "notes/list.txt:2: Bread and butter",
        "notes/trips/far/Lisbon.md:3: Take the tram to the bread museum.",
    ]
    assert await _call(notes, "find_in_files", text="lisbon", path="trips/far") == (
        "notes/trips/far/Lisbon.md\nnotes/trips/far/Lisbon.md:1: # Lisbon"
    )
    assert "in 6 files says “zebra”" in await _call(notes, "find_in_files", text="zebra")
    with pytest.raises(ToolError, match="nothing to look for"):
        await _call(notes, "find_in_files", text=" ")


async def test_a_search_is_bounded(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(100):
        (notes / f"z{number}.txt").write_text("bread\n" * 50, "utf-8")
    told = await _call(notes, "find_in_files", text="bread")
    assert len(told) < 4_000 and told.split("\n")[-1].startswith("There is more")
    monkeypatch.setattr(files, "FIND_FILES", 20)
    assert "Stopped after 20 files" in await _call(notes, "find_in_files", text="zebra")
    monkeypatch.setattr(files, "FIND_SECONDS", 0.0)
    assert "Stopped after 0 seconds" in await _call(notes, "find_in_files", text="zebra")


TRICKS = [
    "../outside/secret.txt",
    "notes/../../outside/secret.txt",
    "notes\\..\\..\\outside\\secret.txt",
    "{tmp}/outside/secret.txt",
    "/etc/passwd",
    "//server/share/secret.txt",
    "\\\\server\\share\\secret.txt",
    "\\\\?\\C:\\secret.txt",
    "\\\\.\\PhysicalDrive0",
    "C:\\secret.txt",
    "C:secret.txt",
    "file:///etc/passwd",
    "~/.ssh/id_rsa",
    "notes/list.txt\0.jpg",
    "notes/li\nst.txt",
    "NUL",
    "notes/con",
    "notes/Com1 .log",
    "notes/lpt¹",
    "notes/.env",
    "notes/.git/config",
    "notes/" + "a/" * 2_000,
    "notes/" + "a" * 900,
    "notes/link/secret.txt",
    "notes/link.txt",
    "notes/hops",
    "notes/circle",
    "notes/dangling",
    "notes/peek",
    "notes/pipe",
    "\ud800",
]


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
@pytest.mark.parametrize("trick", TRICKS)
async def test_nothing_outside_is_read(notes: Path, tmp_path: Path, trick: str) -> None:
    (notes / "link").symlink_to(tmp_path / "outside")
    (notes / "link.txt").symlink_to("../outside/secret.txt")
    (notes / "hops").symlink_to("link.txt")
    (notes / "circle").symlink_to("circle")
    (notes / "dangling").symlink_to(tmp_path / "none")
    (notes / "peek").symlink_to(".env")
    os.mkfifo(notes / "pipe")
    path = trick.replace("{tmp}", str(tmp_path))
    for tool, more in (("read_file", {}), ("list_files", {}), ("find_in_files", {"text": "e"})):
        async with asyncio.timeout(5):
            with pytest.raises(ToolError) as raised:
                await _call(notes, tool, path=path, **more)
        assert SECRET not in str(raised.value) and str(raised.value).endswith(".")
        if "{tmp}" not in trick:
            assert str(tmp_path) not in str(raised.value)


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
async def test_links_that_lead_out_are_neither_listed_nor_searched(notes: Path, tmp_path: Path) -> None:
    (notes / "link").symlink_to(tmp_path / "outside")
    (notes / "link.txt").symlink_to("../outside/secret.txt")
    (notes / "within.txt").symlink_to("list.txt")
    (notes / "back").symlink_to(notes)
    os.mkfifo(notes / "pipe")
    told = await _call(notes, "list_files")
    assert "notes/within.txt" in told and "link" not in told and "pipe" not in told
    assert await _call(notes, "read_file", path="within.txt") == "milk\nBread and butter\n"
    assert "Nothing in" in await _call(notes, "find_in_files", text="secret")


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
async def test_a_permitted_folder_may_be_a_link_but_not_become_another(notes: Path, tmp_path: Path) -> None:
    link = tmp_path / "mine"
    link.symlink_to(notes)
    [_, read, _] = files_tools([link])
    assert "milk" in await read.call({"path": "mine/list.txt"})
    link.unlink()
    link.symlink_to(tmp_path / "outside")
    with pytest.raises(ToolError, match="leads elsewhere"):
        await read.call({"path": "mine/secret.txt"})


async def test_several_folders_have_names_of_their_own(notes: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "notes"
    other.mkdir(parents=True)
    (other / "b.txt").write_text("bread", "utf-8")
    folders = [notes, other, notes]
    assert await _call(folders, "list_files") == "notes/\nnotes (2)/"
    assert await _call(folders, "read_file", path="notes (2)/b.txt") == "bread"
    assert "notes (2)/b.txt:1: bread" in await _call(folders, "find_in_files", text="bread")
    with pytest.raises(ToolError, match="Begin the path with"):
        await _call(folders, "read_file", path="b.txt")
    shutil.rmtree(notes)
    assert await _call(folders, "list_files") == "notes/ (not there at present)\nnotes (2)/"
    assert "notes (2)/b.txt" in await _call(folders, "find_in_files", text="bread")


async def test_a_folder_that_vanishes_is_a_sentence(notes: Path) -> None:
    tools = files_tools([notes])
    await tools[0].call({})
    shutil.rmtree(notes)
    for tool, arguments in zip(tools, ({}, {"path": "list.txt"}, {"text": "milk"}), strict=True):
        with pytest.raises(ToolError, match="not there at present"):
            await tool.call(arguments)
    for tool, arguments in zip(files_tools([]), ({}, {"path": "list.txt"}, {"text": "milk"}), strict=True):
        with pytest.raises(ToolError, match="permitted no folder"):
            await tool.call(arguments)


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="nothing is forbidden to the superuser")
async def test_what_the_system_forbids_is_a_sentence(notes: Path) -> None:
    (notes / "list.txt").chmod(0)
    with pytest.raises(ToolError, match="does not permit"):
        await _call(notes, "read_file", path="list.txt")


async def test_the_loop_goes_on_while_a_disk_is_slow(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on, real = threading.Event(), files.read_bytes
    monkeypatch.setattr(files, "read_bytes", lambda *given: (go_on.wait(5), real(*given))[1])
    reading = asyncio.create_task(_call(notes, "read_file", path="list.txt"))
    began = time.perf_counter()
    await asyncio.sleep(0.05)
    assert not reading.done() and time.perf_counter() - began < 1
    go_on.set()
    assert "milk" in await reading
