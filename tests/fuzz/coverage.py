"""Counts which lines of some modules have run, at nearly no cost: each line is told once. Python 3.12 and newer."""

import importlib
import sys
from collections.abc import Iterable
from types import CodeType
from typing import Any

_TOOL = 4


class LineCoverage:
    """The lines of `modules` that ran since it was made."""

    def __init__(self, modules: Iterable[str]) -> None:
        self._files = {name: str(importlib.import_module(name).__file__) for name in modules}
        self._seen: dict[str, set[int]] = {file: set() for file in self._files.values()}
        if sys.version_info >= (3, 12):
            watch = sys.monitoring
            watch.use_tool_id(_TOOL, "fuzz")
            watch.register_callback(_TOOL, watch.events.LINE, self._on_line)
            watch.set_events(_TOOL, watch.events.LINE)

    def share(self, modules: Iterable[str]) -> tuple[int, int]:
        """Returns how many lines of `modules` have run, and how many they have, those of functions alone."""
        ran = whole = 0
        for name in modules:
            lines = _lines_of(self._files[name])
            ran += len(lines & self._seen[self._files[name]])
            whole += len(lines)
        return ran, whole

    def missed(self, module: str) -> list[int]:
        """Returns the lines of a module that have not run."""
        return sorted(_lines_of(self._files[module]) - self._seen[self._files[module]])

    def _on_line(self, code: CodeType, line: int) -> Any:
        seen = self._seen.get(code.co_filename)
        if seen is not None:
            seen.add(line)
        return sys.monitoring.DISABLE  # type: ignore[attr-defined,unused-ignore]


def _lines_of(file: str) -> set[int]:
    """Returns the lines in the functions of a file that hold code."""
    with open(file, encoding="utf-8") as source:
        codes = [compile(source.read(), file, "exec")]
    lines: set[int] = set()
    while codes:
        code = codes.pop()
        inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        codes += inner
        if code.co_flags & 0x1:  # optimised: a function, and no module or class
            lines |= {line for _, _, line in code.co_lines() if line and line != code.co_firstlineno}
    return lines
