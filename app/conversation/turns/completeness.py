"""Judges by rules whether English words are a complete question or request, or whether more must follow.

A recogniser sets a full stop or a question mark wherever the voice rests, so punctuation counts little. What counts is
what the words still require: an object after a verb, a noun after an adjective, a verb after its subject.
"""

from __future__ import annotations

import re
from typing import Literal

from app.conversation.languages import language
from app.conversation.words import fold

Completeness = Literal["open", "statement", "short", "request", "question"]
"""`open`: more must follow. `statement`: it may stand alone or be followed by its question. `short`: a question or
request that is complete if it is that short. `request`, `question`: complete, and long enough to be all."""

_WH = language("en").question_words
_BE = frozenset("is are was were isn't aren't wasn't weren't".split())
_MODALS = frozenset(
    "do does did can could will would shall should may might must don't doesn't didn't can't couldn't won't "
    "wouldn't shouldn't".split()
)
_HAVE = frozenset("have has had haven't hasn't".split())
_FRONTED = _BE | _MODALS | _HAVE | {"am"}
_PRONOUNS = frozenset("i you he she it we they".split())
_REQUESTS = frozenset(
    "explain describe tell give name list compare summarize summarise provide define discuss write suggest "
    "calculate compute solve find show identify outline say help translate recommend propose create make draw "
    "teach read play sing continue".split()
)
_LEADS = frozenset("so and but then now well also okay ok please or um uh hello hi hey yes no let's".split())
_TAILS = frozenset(
    "and or but because so if that which who whose what why how the a an of to in on at with for from by as is are "
    "was were am be been my your his her its our their these those very too um uh er erm hmm like than when while "
    "where whether also then into about between against without during per not more most least less many much "
    "any some every each both several few other another same different such only just even "
    "does did can could will would shall should may might must has had ever never always often "
    "i we they he she what's who's where's how's it's that's i'm there's let's please between under over through "
    "across toward towards behind near off onto upon until since unless though although please kind sort".split()
)
"""Words that hardly anybody ends on: more is to come."""
_OBJECT_WANTED = frozenset(
    "explain describe tell give name list compare provide define discuss suggest calculate identify outline wrote "
    "write buy remove get make take use find know think say said believe want need recommend invented discovered "
    "bring put let show mean means contain involve include become wants needs knows thinks translate elaborate "
    "get change learn read build send call keep feel".split()
)
"""Verbs that require an object, unless a `what` or `which` in front is the object."""
_COMPLEMENT_WANTED = frozenset(
    "capital difference differences name names reason reasons recipe history way ways number amount concept kinds "
    "type types sort sorts meaning cause causes role effect effects population author summary idea rest version "
    "something anything advantages disadvantages definition example examples distance process height length size "
    "chance risk impact importance purpose list true possible happen".split()
)
"""Nouns that mean little without an `of`, `for` or `between` after them."""
_NUMBERS = frozenset("one two three four five six seven eight nine ten twelve twenty hundred thousand".split())
_ORDINALS = frozenset("first second third fourth fifth last next best worst main old new big large small".split())
_MISHEARD = frozenset("2 4 two four too".split())
_SENTENCE_START = re.compile(r"(?<=[.?!…]) (?=[A-Z\"“])")
"""A full stop before a small letter was set by the recogniser inside a sentence."""


def completeness(words: str, language: str = "en") -> Completeness:
    """Judges `words`, the turn so far as the recogniser writes it. Always "statement" if it isn't English."""
    if language != "en":
        return "statement"
    sentences = [part for part in _SENTENCE_START.split(words.strip()) if fold(part)]
    if not sentences:
        return "open"
    last = list(fold(sentences[-1]))
    body = _without_leads(last)
    if not body:
        return "open"
    # "How far is it from? London?": ignore a mark that the recogniser has put into a question.
    joined = body
    for before in reversed(sentences[:-1]):
        if _asks(joined) is not None or len(body) > 5:
            break
        joined = _without_leads(list(fold(before))) + joined
    if _asks(joined) is None:
        joined = body
    if sentences[-1].rstrip("\"'”’").endswith(("...", "…", ",", "-", "—")):
        return "open"
    return _judge(joined)


def ends_open(words: str) -> bool:
    """Whether the last word is one that hardly anybody ends on."""
    return bool(_TAILS.intersection(fold(words)[-1:]))


def _without_leads(words: list[str]) -> list[str]:
    place = 0
    while place < len(words) and words[place] in _LEADS:
        place += 1
    return words[place:]


def _asks(words: list[str]) -> int | None:
    """Index of a fronted verb or a request at the start, or of the last question word; None without any."""
    if not words:
        return None
    if words[0] in _WH | _FRONTED | _REQUESTS:
        return 0
    for place in range(len(words) - 1, 0, -1):
        word = words[place]
        if word in ("what", "why", "how", "where", "what's", "which", "who's", "where's", "please"):
            return place
        if word in _MODALS | _BE and place + 1 < len(words) and words[place + 1] in _PRONOUNS:
            return place
    return None


def _judge(words: list[str]) -> Completeness:
    last = words[-1]
    begin = _asks(words)
    if begin is None:
        return "open" if last in _TAILS else "statement"
    asking = words[begin:]
    if asking[0] == "please":
        asking = asking[1:]
    if not asking:
        return "open"
    polite = len(asking) > 2 and asking[0] in _MODALS and asking[1] in _PRONOUNS
    verb = next((n for n, word in enumerate(asking[2:5], 2) if word in _REQUESTS), None) if polite else None
    if verb is not None or asking[0] in _REQUESTS:
        return _request(asking[verb or 0 :])
    return _question(asking)


def _request(words: list[str]) -> Completeness:
    """Judges words that begin with the verb of a request."""
    what = [word for word in words[1:] if word not in ("me", "us", "please", "to")]
    inner = next((n for n, word in enumerate(what) if word in _WH), None)
    if inner is not None and what and words[-1] not in ("why", "how"):
        return _question(what[inner:], indirect=True)
    last = words[-1]
    if not what or last in _TAILS | _COMPLEMENT_WANTED | _OBJECT_WANTED or _counts(last) or _wants_noun(words):
        return "open"
    return "request" if len(what) >= 5 else "short"


def _question(words: list[str], *, indirect: bool = False) -> Completeness:
    """Judges words that begin with a question word or a fronted verb."""
    head, last = words[0], words[-1]
    if len(words) == 1:
        return "short" if head in _WH and not indirect else "open"
    asked_object = head in ("what", "which", "who", "whom", "what's") or words[1] in ("many", "much", "long")
    whole = len(words) >= 3 and (
        # "What is that?", "How old is it?", "Who are you?"
        (last in _PRONOUNS | {"this", "that", "these", "those"} and words[-2] in _BE and head in _WH)
        or (last == "that" and words[-2] in ("about", "like", "do", "mean", "for", "with", "of"))
    )
    # "When will it stop?", "What should I give her?", "What could that be?"
    plain = (
        head in _WH
        and len(words) >= 4
        and any(word in _MODALS | _HAVE for word in words[1:-2])
        and (last not in _TAILS or (asked_object and last in ("her", "be", "have", "do")))
    )
    if not whole:
        if plain and last in ("her", "be", "have", "do"):
            return "question"
        if last in _TAILS or _wants_noun(words):
            return "open"
        if last in ("do", "have") and not asked_object:
            return "open"
        if last in _PRONOUNS and (words[-2] in _MODALS | _HAVE):
            return "open"  # "Could you?", "Where can I?"
        if last in _OBJECT_WANTED and not (asked_object and len(words) >= 4):
            return "open"
        if last in _COMPLEMENT_WANTED:
            return "open"
        if last.endswith("est") and len(last) > 4 and last not in ("interest", "request", "forest", "west"):
            return "open"  # "the longest"
        if head in _WH and len(words) == 2:
            return "open"  # "Who wrote?", "What process?"
        if last in _MISHEARD and words[-2] not in ("plus", "minus", "times", "by", "number", "is"):
            return "open"  # "to" and "for", as a recogniser writes them at a pause
        if head in _BE and len(words) == 3 and words[1] in _PRONOUNS and not indirect:
            return "question"  # "Are they valid?"
        if head in _WH and len(words) == 4 and words[2] in _BE | _MODALS and not indirect:
            return "question"  # "What processes are involved?"
        if head in _FRONTED and len(words) < 4:
            # "Can you swim?" may be whole, "Can a process?" is not.
            return "short" if words[1] in _PRONOUNS else "open"
        if head in _BE and len(words) < 5 and words[1] in ("the", "a", "there", "it", "my", "your"):
            return "short"
    if head in _WH and len(words) == 3 and words[1] in _BE and not indirect:
        return "question"  # "What is love?"
    length = len(words) + ("'s" in head)
    return "question" if length >= 5 or plain or (whole and length >= 3) else "short"


def _counts(word: str) -> bool:
    return word.isdigit() or word in _NUMBERS


def _wants_noun(words: list[str]) -> bool:
    """Whether the last word describes a noun that is still missing: "which of the five", "a second", "the best"."""
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if before in ("the", "a", "an", "these", "those", "last", "next"):
        return _counts(last) or last in _ORDINALS
    return False
