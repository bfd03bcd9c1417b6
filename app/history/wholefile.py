"""Files that the user asked for: written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from app.session.errors import UserError


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file that becomes `path` when all has been written. Raises UserError; then `path` is as it was before."""
    draft = None
    try:
        handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.", suffix=".draft")
        with os.fdopen(handle, "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException as error:
        if draft is not None:
            with contextlib.suppress(OSError):
                os.unlink(draft)
        if isinstance(error, OSError):
            raise UserError(
                f"“{path}” can't be written: {error.strerror or error}. Choose another folder, or make room there."
            ) from error
        raise
