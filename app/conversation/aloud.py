"""Turns a written answer into what a voice is given: its prose, and for code and tables that they are on the screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.conversation.blocks import Block, blocks
from app.conversation.languages import ENGLISH, language
from app.conversation.words import fold


class Aloud:
    """Turns an answer that arrives word by word. What was given to the voice stays the beginning of what follows."""

    def __init__(self, code: str = ENGLISH) -> None:
        self.text = ""
        """All that the voice was given so far."""
        self.in_block = False
        """Whether the answer so far ends in code or in a table."""
        self._code = code
        self._written = ""

    def push(self, delta: str) -> str:
        """Adds whole words of the answer, with their spacing; returns what the voice gets for them (may be empty)."""
        self._written += delta
        return self._pass_on(whole=False)

    def flush(self) -> str:
        """Returns what the voice gets at the answer's end."""
        return self._pass_on(whole=True)

    def _pass_on(self, *, whole: bool) -> str:
        parts = blocks(self._written, whole=whole)
        self.in_block = bool(parts) and parts[-1].kind != "prose"
        text = "".join(said for _, said in aloud_parts(parts, self._code))
        passed, self.text = len(self.text), text
        return text[passed:]


def aloud(text: str, code: str = ENGLISH) -> str:
    """Returns what a voice is given for a whole answer in the language `code`."""
    return "".join(said for _, said in aloud_parts(blocks(text), code))


def aloud_parts(parts: Sequence[Block], code: str = ENGLISH) -> Iterator[tuple[Block, str]]:
    """Yields each part of an answer with what a voice is given for it.

    Of several blocks of a kind without words between them, only the first one is announced.
    """
    announced = ""
    for part in parts:
        if part.kind == "prose":
            announced = "" if not announced or fold(part.text) else announced
            yield part, part.text
        else:
            yield part, "" if part.kind == announced else f"\n\n{language(code).on_screen[part.kind]}\n\n"
            announced = part.kind
