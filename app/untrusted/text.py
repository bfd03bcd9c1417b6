"""Sanitizes untrusted text: valid Unicode, without control characters, terminal sequences or bidirectional overrides.

Anything that could disrupt a terminal, a UTF-8 file, a database or a text view is removed once, on input.
"""

from __future__ import annotations

import re

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
LONGEST_SEQUENCE = 4_096
"""String sequences (such as OSC) of up to this length are removed whole; longer ones lose only the escape character."""

# Unicode 15.1, UAX #9: the embeddings and overrides, and the isolates.
_OVERRIDES = "\u202a-\u202e\u2066-\u2069"
# ECMA-48: control sequences (CSI), strings with a terminator (DCS, SOS, OSC, PM, APC), other escapes. Strings are only
# matched if they begin with ESC: their single-character forms also result from decoding UTF-8 quotation marks as
# Latin-1, and the text between those is real. For the same reason, a single-character CSI must have a parameter.
_CONTROL = r"(?:\x1b\[[0-?]{0,256}|\x9b[0-?]{1,256})[ -/]{0,16}[@-~]"
_STRING = rf"\x1b[PX\]^_][^\x07\x1b\n]{{0,{LONGEST_SEQUENCE}}}(?:\x07|\x1b\\)"
_ESCAPE = r"\x1b[ -/]{0,16}[0-OQ-WYZ`-~\\]"
_SEQUENCE = re.compile(f"{_CONTROL}|{_STRING}|{_ESCAPE}")
_UNFINISHED = re.compile(
    r"(?:\x1b|(?:\x1b\[|\x9b)[0-?]{0,256}[ -/]{0,16}|\x1b[ -/]{1,16}"
    rf"|\x1b[PX\]^_][^\x07\x1b\n]{{0,{LONGEST_SEQUENCE}}}\x1b?|[\ud800-\udbff]|\r)\Z"
)
_SUSPECT = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029{_OVERRIDES}\ud800-\udfff\ufffe\uffff]")
_BREAK = re.compile("\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_DROPPED = re.compile(f"[\x00-\x08\x0e-\x1f\x7f-\x9f{_OVERRIDES}\ufffe\uffff]")
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_HALF = re.compile("[\ud800-\udfff]")


def harmless(text: str) -> str:
    """Returns `text` as valid Unicode with no control characters except tab and newline.

    Terminal sequences and bidirectional overrides are removed, other line breaks become newlines, surrogate pairs
    become the character they encode, and a lone surrogate becomes U+FFFD.
    """
    if is_harmless(text):
        return text
    return _DROPPED.sub("", _SEQUENCE.sub("", _HALF.sub(REPLACEMENT, _joined(text))))


def is_harmless(text: str) -> bool:
    """Returns whether `harmless` would leave `text` unchanged."""
    return _SUSPECT.search(text) is None


def one_line(text: str, most: int) -> str:
    """Returns `text` sanitized, on one line, truncated to `most` characters."""
    return " ".join(harmless(text[: 2 * most]).split())[:most]


def _joined(text: str) -> str:
    """Joins surrogate pairs and turns line breaks into newlines, which must precede any removal."""
    text = _PAIR.sub(lambda pair: pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le"), text)
    return _BREAK.sub("\n", text)


class HarmlessStream:
    """Sanitizes text that arrives in pieces, including sequences split across two pieces."""

    def __init__(self) -> None:
        self._held = ""

    def push(self, piece: str) -> str:
        """Adds a piece; returns the sanitized text up to any incomplete sequence at its end."""
        if not self._held and is_harmless(piece):
            return piece
        text = self._held + piece
        last = "\r" if text.endswith("\r") else ""  # a line feed may follow
        text = _joined(text.removesuffix("\r")) + last
        found = _UNFINISHED.search(text)
        end = found.start() if found else len(text)
        self._held = text[end:]
        return harmless(text[:end])

    def flush(self) -> str:
        """Returns the remaining text. Must be called at the end of the stream."""
        text, self._held = self._held, ""
        return harmless(text)
