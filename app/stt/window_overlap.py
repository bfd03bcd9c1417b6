"""Joins the words of two windows of sound that overlap, by the words that both have.

The first words of a later window may be halves of words, and the last ones of an earlier window, too: in between both
heard the same sound, and agree.
"""

from __future__ import annotations

from difflib import SequenceMatcher

from app.conversation.words import fold


def joined(before: str, after: str, overlap: float) -> str:
    """The words of both. `after` begins within `before`, and has `overlap` of its own sound (0 to 1) in common with it.

    The longest run of words that both have is where they are joined: what `before` has behind it and `after` in front
    of it is dropped. Without such a run the share of words goes that the overlap must hold.
    """
    old, new = before.split(), after.split()
    if not old or not new:
        return " ".join(old or new)
    common = overlap * len(new)
    reach = round(1.5 * common) + 3  # nobody speaks evenly
    first = max(0, len(old) - reach)
    keys = [" ".join(fold(word)) for word in old[first:]]
    heads = [" ".join(fold(word)) for word in new[:reach]]
    match = SequenceMatcher(None, keys, heads, autojunk=False).find_longest_match()
    # One short word may be in both by chance; two in a row, or a long one, are hardly.
    if match.size >= 2 or (match.size == 1 and len(keys[match.a]) >= 5):
        return " ".join([*old[: first + match.a], *new[match.b :]])
    return " ".join([*old, *new[round(common) :]])
