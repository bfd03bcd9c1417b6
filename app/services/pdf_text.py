"""Reads the text of a PDF file, in a child process: a strange file may take long, and a talk may be going on.

`python -m app.services.pdf_text FILE BYTES` prints one JSON object: `text` (somewhat more than BYTES bytes of it, or
all) and `words` (how many there are in all), or `trouble` ("locked" or "damaged").
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.platform.children import python_module_command, quiet_child
from app.session.errors import UserError
from app.untrusted.json_text import read_json
from app.untrusted.limits import PDF_TEXT
from app.untrusted.text import harmless

SECONDS = 60.0
"""A manual of 1,008 pages took 17 s on one of two cores, with other work beside it."""


def read_pdf(path: Path, name: str, most_bytes: int) -> tuple[str, int]:
    """Returns somewhat more than `most_bytes` of the text, and how many words all of it has. Raises UserError.

    Blocks until the child process is done. `name`: the file's, for people.
    """
    command = python_module_command("app.services.pdf_text", str(path.absolute()), str(most_bytes))
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
    """What this module prints."""
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
    """Prints what `extract` returns."""
    path, most_bytes = arguments
    logging.disable()  # pypdf tells of every fault in a file
    with contextlib.suppress(AttributeError, OSError):
        os.nice(5)
    try:
        found = extract(Path(path), int(most_bytes))
    except Exception:  # whatever a damaged file leads to
        found = {"trouble": "damaged"}
    sys.stdout.write(json.dumps(found))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
