"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO


@contextmanager
def whole_file(path: Path, *, aside: Path | None = None) -> Iterator[BinaryIO]:
    """A file that becomes `path` when all has been written; `aside`: where the file of before goes.

    A link stays one, and a file's mode is kept. Raises OSError, and what is raised meanwhile; then `path` is as it was
    before.
    """
    path = Path(os.path.realpath(path))
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.", suffix=".draft")
    try:
        with os.fdopen(handle, "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, draft)
        if aside is not None:
            os.replace(path, aside)
        os.replace(draft, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(draft)
        raise


def write_json(path: Path, value: Any, *, indent: int = 2, aside: Path | None = None) -> None:
    """Writes `value` to `path` as JSON, likewise; makes its folder if it is missing. Raises OSError."""
    try:
        text = json.dumps(value, indent=indent, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half a surrogate pair, which JSON can hold and UTF-8 can't
        text = json.dumps(value, indent=indent).encode()
    Path(os.path.realpath(path)).parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path, aside=aside) as file:
        file.write(text + b"\n")
