"""Documents, small files, arguments of tools and children's lines, with odd content."""

import io
import os
from pathlib import Path

import pytest

from app.conversation.prompt import LONG_DOCUMENT_BYTES, Document
from app.gui.oracle import card
from app.models.selection import load_speeds
from app.platform import installation
from app.services import documents
from app.services.bill_of_materials import read_bill
from app.services.documents import CHUNK_BYTES, read_document
from app.services.graphics_service import _reports
from app.services.updates import UpdateService
from app.session.control import UserError
from app.untrusted.limits import DOCUMENT_BYTES, MB
from tests.support.pdf import pdf_of

ODD = {
    "deep list": "[" * 100_000,
    "deep object": '{"a":' * 100_000,
    "deep and closed": "[" * 5_000 + "]" * 5_000,
    "long": "[" + "1," * 2 * MB + "1]",
    "a long number": "9" * 10_000,
    "an endless number": "[1e999]",
    "a number that is none": "[NaN]",
    "nothing of use": "null",
    "half a pair": '["\\ud800"]',
    "no json": "{",
}
values = pytest.mark.parametrize("text", ODD.values(), ids=ODD)


@values
def test_arguments_that_make_no_sense_are_shown_as_text(text: str) -> None:
    assert isinstance(card._arguments(text), str)


@values
def test_a_senseless_small_file_is_as_if_not_there(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "installed.json"
    path.write_text(text)
    assert load_speeds(path) == {}
    assert UpdateService("https://127.0.0.1:9/", version="1", path=path).due
    monkeypatch.setattr(installation, "__file__", str(tmp_path / "app" / "platform" / "installation.py"))
    installation.installed.cache_clear()
    assert installation.installed().kind == "wheel"
    installation.installed.cache_clear()
    with pytest.raises(ValueError, match="bill of materials can't be read"):
        read_bill(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes among the files")
def test_a_pipe_in_place_of_a_small_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "speeds.json")
    assert load_speeds(tmp_path / "speeds.json") == {}


def test_what_a_launcher_prints_among_its_reports_is_passed_over() -> None:
    class Child:
        stdout = io.BytesIO(b"\n".join([b"[" * 50_000, b"x" * MB, b"[1]", b'{"step": "Fetching"}', b""]))

    assert list(_reports(Child())) == [{"step": "Fetching"}]  # type: ignore[arg-type]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
async def test_a_text_is_read_with_or_without_a_mark(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "Übung.md"
    path.write_bytes("# Über\r\nGrün \U0001f375 tea\r\n".encode(encoding))
    assert await read_document(path) == Document("Übung.md", "# Über\nGrün \U0001f375 tea")


async def test_of_a_long_one_the_beginning_is_kept_and_all_words_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    count = 4 * CHUNK_BYTES // 5
    path.write_text(" ".join(f"w{number:06}é" for number in range(count)), "utf-8")
    document = await read_document(path)
    assert document.words == count
    assert LONG_DOCUMENT_BYTES - 20 < len(document.text.encode()) <= LONG_DOCUMENT_BYTES
    assert document.text.endswith("é") and document.cut == count - len(document.text.split())


async def test_what_is_no_text_is_refused_in_a_sentence(tmp_path: Path) -> None:
    files = {
        "picture.png": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "no text that KAME can read"),
        "latin.txt": ("Grün und süß".encode("latin-1"), "saved as UTF-8"),
        "cut.txt": ("Grün".encode()[:3], "saved as UTF-8"),
        "fake.pdf": (b"\x00\x01\x02", "no text that KAME can read"),
        "empty.txt": (b" \n", "holds no words"),
        "large.txt": (b"a " * (DOCUMENT_BYTES // 2) + b"b", "larger than 10 MB"),
    }
    for name, (content, why) in files.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(UserError, match=why) as refused:
            await read_document(tmp_path / name)
        assert str(tmp_path) not in str(refused.value), "names stand without their folder"
    with pytest.raises(UserError, match="is a folder"):
        await read_document(tmp_path)
    with pytest.raises(UserError, match=r"“gone\.txt” can't be read"):
        await read_document(tmp_path / "gone.txt")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no such pipes")
async def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    with pytest.raises(UserError, match="no file with a text"):
        await read_document(tmp_path / "pipe.txt")


async def test_a_name_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / ("a\u202etxt.exe\u2028b.txt" if os.name == "nt" else "a\nb\u202e<b>\udcff.txt")
    path.write_text("Words", "utf-8")
    name = (await read_document(path)).name
    assert name.isprintable() and name.endswith(".txt") and "  " not in name


async def test_the_text_of_a_pdf_is_read_page_by_page(tmp_path: Path) -> None:
    (tmp_path / "Reise.pdf").write_bytes(pdf_of([["Der Zug fährt um acht (Gleis 7)."], [], ["Ende"]]))
    document = await read_document(tmp_path / "Reise.pdf")
    assert document.text.split() == "Der Zug fährt um acht (Gleis 7). Ende".split() and document.cut == 0
    (tmp_path / "other name").write_bytes(pdf_of([["One two"]], password=""))
    document = await read_document(tmp_path / "other name")
    assert document == Document("other name", "One two"), "what is encrypted without a password is read"


@pytest.mark.slow
async def test_of_a_long_pdf_the_beginning_is_kept_and_all_words_are_counted(tmp_path: Path) -> None:
    pages = [[" ".join(f"page{number}line{line}" for _ in range(8)) for line in range(50)] for number in range(40)]
    (tmp_path / "long.pdf").write_bytes(pdf_of(pages))
    document = await read_document(tmp_path / "long.pdf")
    assert document.words == 40 * 50 * 8 and document.text.startswith("page0line0")
    assert LONG_DOCUMENT_BYTES - 20 < len(document.text.encode()) <= LONG_DOCUMENT_BYTES


async def test_a_pdf_without_text_is_refused_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = pdf_of([["Words"]])
    files = {
        "locked.pdf": (pdf_of([["Secret"]], password="open"), "locked with a password"),
        "scan.pdf": (pdf_of([[]]), "pictures of pages, but no text"),
        "cut.pdf": (whole[: len(whole) // 3], "no PDF that KAME can read"),
        "noise.pdf": (b"%PDF-1.7\n" + bytes(range(256)) * 40, "no PDF that KAME can read"),
    }
    for name, (content, why) in files.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(UserError, match=why) as refused:
            await read_document(tmp_path / name)
        assert str(tmp_path) not in str(refused.value)
    (tmp_path / "whole.pdf").write_bytes(whole)
    monkeypatch.setattr(documents, "SECONDS", 0.001)
    with pytest.raises(UserError, match="longer than"):
        await read_document(tmp_path / "whole.pdf")
    monkeypatch.setattr(documents, "PDF_BYTES", 100)
    with pytest.raises(UserError, match="larger than"):
        await read_document(tmp_path / "whole.pdf")
