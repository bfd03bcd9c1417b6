"""Write files so that readers find the old or the new content, never a part."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, text: str, encoding: str = "utf-8") -> None:
    """Write a temporary file and move it into place; other hard links to the old file keep their content."""
    half = path.with_name(path.name + ".new")
    half.write_text(text, encoding=encoding)
    os.replace(str(half), str(path))
