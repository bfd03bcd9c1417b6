"""Documents that the user adds to a conversation, and the part of each that a model is given.

Sizes are bytes in UTF-8: letters that take more bytes usually take more of a model's tokens, too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from app.conversation.languages import language

MOST_DOCUMENTS = 5
DOCUMENT_BYTES = 4_800
"""What a model is given of all documents together, if nothing is known about how much it reads."""
LONG_DOCUMENT_BYTES = 24_000
"""The same for a model that reads long prompts quickly: some 4,000 words. No more is kept of any document."""
LONGEST_NAME = 120
"""In characters."""

_SEPARATOR = re.compile(r"[/\\]")
_MARK = re.compile(r"<(/?)document\b", re.I)


@dataclass(frozen=True, slots=True)
class Document:
    """A text that the model is to know. `name`: of its file, without the folder. `cut`: how many words of the file are
    not in `text`.
    """

    name: str = field(repr=False)
    text: str = field(repr=False)
    cut: int = 0

    @property
    def words(self) -> int:
        """How many words the whole file has."""
        return len(self.text.split()) + self.cut


def plain_name(name: str) -> str:
    """Returns a file's name without its folder and on one line, no longer than `LONGEST_NAME`."""
    own = _SEPARATOR.split(name)[-1]
    return " ".join("".join(char if char.isprintable() else " " for char in own).split())[:LONGEST_NAME]


def beginning(text: str, most_bytes: int) -> str:
    """Returns as much of the beginning of `text` as fits, without half a word where possible."""
    whole = text.encode("utf-8", "replace")
    if len(whole) <= most_bytes:
        return text
    start = whole[:most_bytes].decode("utf-8", "ignore")
    shorter = "".join(start.rsplit(None, 1)[:1])
    return shorter if len(shorter) * 4 > len(start) * 3 else start


def given_parts(documents: Sequence[Document], most_bytes: int) -> tuple[str, ...]:
    """Returns the part of each document that a model is given: short ones are complete, the others share the rest."""
    sizes = [len(document.text.encode("utf-8", "replace")) for document in documents]
    shares, room = [0] * len(sizes), most_bytes
    for done, place in enumerate(sorted(range(len(sizes)), key=sizes.__getitem__)):
        shares[place] = min(sizes[place], room // (len(sizes) - done))
        room -= shares[place]
    return tuple(beginning(document.text, share) for document, share in zip(documents, shares, strict=True))


def given_words(documents: Sequence[Document], most_bytes: int) -> tuple[int, ...]:
    """Returns how many words of each document a model is given."""
    return tuple(len(part.split()) for part in given_parts(documents, most_bytes))


def material(documents: Sequence[Document], most_bytes: int, code: str) -> str:
    """Returns the documents as a part of a system prompt in the language `code`; empty if there are none."""
    if not documents:
        return ""
    parts = [language(code).material]
    for document, text in zip(documents, given_parts(documents, most_bytes), strict=True):
        inside = _MARK.sub(r"< \1document", text)  # the document must not end before its end
        more = " […]" if document.cut or len(text) < len(document.text) else ""
        parts.append(f"<document name='{document.name.replace(chr(39), chr(0x2019))}'>\n{inside}{more}\n</document>")
    return "\n\n".join(parts)
