"""Reader for text and PDF files that the user adds to a conversation. Unreadable files raise UserError.

PDFs are parsed in a child process, so that a slow or malformed file doesn't disturb a running session. `python -m
app.services.documents FILE BYTES` prints one JSON object with `text` (all of it, or a little more than BYTES bytes) and
`words` (the total word count), or with `trouble` ("locked" or "damaged").
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import json
import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from app.conversation.prompt import LONG_DOCUMENT_BYTES, Document, beginning, plain_name
from app.platform.children import python_module_command, quiet_child
from app.session.control import UserError
from app.untrusted.files import open_regular
from app.untrusted.json_text import read_json
from app.untrusted.limits import DOCUMENT_BYTES, PDF_BYTES, PDF_TEXT, Refused, in_words
from app.untrusted.text import harmless

SECONDS = 60.0
"""Timeout for parsing a PDF. A 1,008-page manual took 17 s on one of two cores under load."""


def read_pdf(path: Path, name: str, most_bytes: int) -> tuple[str, int]:
    """Returns the text of a PDF, truncated to a little more than `most_bytes`, and its total word count.

    Blocks until the child process exits. `name`: the file name to use in messages. Raises UserError.
    """
    command = python_module_command("app.services.documents", str(path.absolute()), str(most_bytes))
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            **quiet_child(),
        )
        found: dict[str, Any] = read_json(done.stdout, PDF_TEXT)
    except subprocess.TimeoutExpired:
        raise UserError(
            f"“{name}” takes longer than {SECONDS:.0f} s to read. Save the pages that matter as a file of their own."
        ) from None
    except (OSError, ValueError):
        found = {"trouble": "damaged"}
    match found.get("trouble"):
        case "locked":
            raise UserError(f"“{name}” is locked with a password. Save a copy without one, and add that.")
        case "damaged":
            raise UserError(f"“{name}” is no PDF that KAME can read; it may be damaged. Save it as text, and add that.")
    if not found["words"]:
        raise UserError(
            f"“{name}” has pictures of pages, but no text. A program that recognises text (OCR) can add it."
        )
    return found["text"], found["words"]


def extract(path: Path, most_bytes: int) -> dict[str, Any]:
    """Returns the JSON object that this module prints."""
    from pypdf import PdfReader
    from pypdf.errors import FileNotDecryptedError, PdfReadError

    text, words = "", 0
    try:
        reader = PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            return {"trouble": "locked"}
        for page in reader.pages:
            part = harmless(page.extract_text()).strip()
            words += len(part.split())
            if len(text) <= most_bytes:
                text = f"{text}\n\n{part[: 2 * most_bytes]}".strip()
    except FileNotDecryptedError:
        return {"trouble": "locked"}
    except PdfReadError:
        return {"trouble": "damaged"}
    return {"text": text, "words": words}


def main(arguments: Sequence[str]) -> int:
    """Prints the result of `extract` for the arguments FILE and BYTES; returns the exit status."""
    path, most_bytes = arguments
    logging.disable()  # pypdf logs every defect in a file
    with contextlib.suppress(AttributeError, OSError):
        os.nice(5)
    try:
        found = extract(Path(path), int(most_bytes))
    except Exception:  # a damaged file can cause any exception
        found = {"trouble": "damaged"}
    sys.stdout.write(json.dumps(found))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))


CHUNK_BYTES = 2**16
"""The number of bytes per read, small enough that no step holds the GIL for longer than 1 to 2 ms, since a session may
be running."""

_PDF_MARK = b"%PDF-"
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # must precede UTF-16, whose BOM is a prefix of this one
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_NOT_TEXT = re.compile(r"[\0-\x08\x0e-\x1a\x1c-\x1f\x7f]")
"""Control characters that don't occur in text files. Form feeds and ANSI escapes, as in coloured logs, are allowed."""


async def read_document(path: Path) -> Document:
    """Reads a text or PDF file, truncating a long text. Raises UserError."""
    return await asyncio.to_thread(_read, path)


def _read(path: Path) -> Document:
    name = plain_name(path.name)
    try:
        with open_regular(path) as file:
            is_pdf = file.read(len(_PDF_MARK)) == _PDF_MARK
            file.seek(0)
            most = PDF_BYTES if is_pdf else DOCUMENT_BYTES
            if os.fstat(file.fileno()).st_size > most:
                raise UserError(
                    f"“{name}” is larger than {in_words(most)}, which is more than KAME reads. Save the part that "
                    "matters as a file of its own."
                )
            text, words = read_pdf(path, name, LONG_DOCUMENT_BYTES) if is_pdf else _text(file, name)
    except IsADirectoryError:
        raise UserError(f"“{name}” is a folder. KAME reads single files: add the files that you want.") from None
    except Refused:
        raise UserError(f"“{name}” is no file with a text. Choose a text or PDF file.") from None
    except OSError as error:
        raise UserError(
            f"“{name}” can't be read: {error.strerror or type(error).__name__}. Check that it is still there and that "
            "you may open it."
        ) from None
    if not words:
        raise UserError(f"“{name}” holds no words, so there is nothing to add. Choose another file.")
    kept = beginning(harmless(text), LONG_DOCUMENT_BYTES)
    return Document(name, kept, max(0, words - len(kept.split())))


def _text(file: BinaryIO, name: str) -> tuple[str, int]:
    """Returns a text file's contents, truncated to a little more than will be kept, and its total word count.

    Raises UserError.
    """
    head = file.read(8)
    mark, encoding = next(((mark, name) for mark, name in _MARKS if head.startswith(mark)), (b"", "utf-8"))
    file.seek(len(mark))
    text, words, in_word = "", 0, False
    try:
        for part in _decoded(file, encoding):
            if _NOT_TEXT.search(part):
                raise ValueError
            words += len(part.split()) - (in_word and not part[0].isspace())
            in_word = not part[-1].isspace()
            if len(text) <= LONG_DOCUMENT_BYTES:
                text += part
    except ValueError:
        raise UserError(
            f"“{name}” is no text that KAME can read. Choose a PDF or a text file (txt, md, csv, json, source code), "
            "saved as UTF-8."
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n").strip(), words


def _decoded(file: BinaryIO, encoding: str) -> Iterator[str]:
    """Yields the decoded text of a file in non-empty chunks. Raises ValueError if the encoding is wrong."""
    decoder = codecs.getincrementaldecoder(encoding)()
    left = DOCUMENT_BYTES  # the file may have grown since its size was checked
    while left > 0 and (chunk := file.read(CHUNK_BYTES)):
        left -= len(chunk)
        if part := decoder.decode(chunk):
            yield part
    if left > 0 and (part := decoder.decode(b"", True)):
        yield part
