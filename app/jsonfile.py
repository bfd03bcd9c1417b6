"""JSON files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any


def write_json(path: Path, value: Any, *, indent: int = 2, aside: Path | None = None) -> None:
    """Writes `value` to `path`, whose folder is made if it is missing; `aside`: where the file of before goes.

    A link stays one, and a file's mode is kept. Raises OSError; then the file is as it was before.
    """
    path = Path(os.path.realpath(path))
    try:
        text = json.dumps(value, indent=indent, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half a surrogate pair, which JSON can hold and UTF-8 can't
        text = json.dumps(value, indent=indent).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".draft")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text + b"\n")
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
