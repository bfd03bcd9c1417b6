"""Write files so that whoever reads them finds the old or the new content, and never a part."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, text: str, encoding: str = "utf-8") -> None:
    """Write a file beside its place and move it there: other hard links to the old file keep its content."""
    half = path.with_name(path.name + ".new")
    half.write_text(text, encoding=encoding)
    os.replace(str(half), str(path))
