"""Makes a title of the first words. Pure text."""

from __future__ import annotations

TITLE_WORDS = 7
TITLE_LETTERS = 60


def make_title(text: str) -> str:
    """The first words of `text`, cut at a word, with "…" where there are more."""
    words = text.split(maxsplit=TITLE_WORDS)
    title = ""
    for word in words[:TITLE_WORDS]:
        longer = f"{title} {word}".strip()
        if len(longer) > TITLE_LETTERS:
            return f"{title or longer[:TITLE_LETTERS]}…"
        title = longer
    return f"{title.rstrip(',;:–—-')}…" if len(words) > TITLE_WORDS else title
