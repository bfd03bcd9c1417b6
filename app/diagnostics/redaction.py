"""Removes keys, tokens and passwords from text before it is kept or shown, and the words of conversations."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterable, Mapping
from urllib.parse import quote, quote_plus

HIDDEN = "[hidden]"

LEFT_OUT = "[words]"

SHORTEST = 8
"""A secret of fewer letters is no key, and would be found in too many other words."""

_SECRET_NAME = re.compile(r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASS|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)(?:_|$)")
"""Names of variables that hold secrets, in capitals."""

# A secret's extent: quoted as a whole, else up to the next blank or quote. What is hidden already is left alone.
_VALUE = r"""(?!b?["']?\[hidden\])(?:b?(?P<q>["'])(?:(?!(?P=q)).)+(?:(?P=q)|$)|[^\s"'<>]+)"""
_OPEN = r"""["']? \s*[:=,]\s* (?:b(?=["']))? ["']?"""
_NAMES = r"""(?<![\w-]) [\w-]{0,60}? (?:
    api[_\s-]?key | access[_-]?key | secret | password | passwd | passphrase | pwd | credentials?
    | (?:auth|access|refresh|id)[_-]?token
) (?:[_-]\w{1,40})?"""
# Every repetition has a bound, so that no text takes long.
_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.VERBOSE | (re.IGNORECASE if loose else 0)), instead)
    for pattern, instead, loose in (
        # A user and a password in an address, also where the password holds characters that should be quoted.
        (r"(?P<kept>://) [^\s\"'<>/?\#]{1,400} @", rf"\g<kept>{HIDDEN}@", True),
        (
            r"(?P<kept>://) [^\s\"'<>/@:]{0,200} : (?!\d{1,5}(?:[/?\#\s]|$)) [^\s\"'<>]{0,400} @",
            rf"\g<kept>{HIDDEN}@",
            True,
        ),
        # Headers, as they are sent and as Python shows them.
        (
            rf"(?P<kept>\b(?:proxy-)?authorization {_OPEN}) (?:(?:bearer|basic|token|digest)\s+)? [^\s\"'<>]+",
            rf"\g<kept>{HIDDEN}",
            True,
        ),
        (r"(?P<kept>\bx-[a-z-]{0,40}(?:key|token) [\"']? \s*[:=,]\s*)" + _VALUE, rf"\g<kept>{HIDDEN}", True),
        (rf"(?P<kept>\b(?:set-)?cookie {_OPEN}) [^\r\n\"']+", rf"\g<kept>{HIDDEN}", True),
        (r"(?P<kept>\bbearer\s+) (?!\[hidden\]) [^\s\"'<>]{6,}", rf"\g<kept>{HIDDEN}", True),
        # A name that says what its value is.
        (rf"(?P<kept>{_NAMES} [\"']? \s*[:=]\s*)" + _VALUE, rf"\g<kept>{HIDDEN}", True),
        (
            r"(?P<kept>(?<![\w-]) (?:[\w-]{0,60}[_-])? (?:key|token|auth|signature|sig) (?:[_-]\w{1,40})?"
            r"[\"']? \s*=\s*)"
            r"(?!\d{1,9}\b(?!-)) (?!\[hidden\]) (?:[\"'][^\s\"']+[\"']? | [^\s\"'<>&]{6,})",
            rf"\g<kept>{HIDDEN}",
            True,
        ),
        (r"(?P<kept>[\"'](?:key|token)[\"']\s*:\s*) [\"'][^\s\"']{6,}[\"']", rf"\g<kept>{HIDDEN}", True),
        (
            r"(?P<kept>\b(?:key|token) (?:\s+\w{1,20}){0,2} \s*[:=]\s*) (?=[^\s]{0,200}\d) [^\s\"'<>]{16,}",
            rf"\g<kept>{HIDDEN}",
            True,
        ),
        # Keys with a known prefix.
        (r"(?<![A-Za-z0-9]) (?:sk|pk|rk)-[^\s\"'<>]{8,}", HIDDEN, False),
        (r"(?<![A-Za-z0-9]) (?:sk|rk|gsk|hf|ghp|gho|ghs|ghu|r8|whsec)_[A-Za-z0-9_\-]{8,}", HIDDEN, False),
        (
            r"(?<![A-Za-z0-9]) (?:xai-|pplx-|nvapi-|glpat-|github_pat_|xox[abprs]-|csk-|fw_|tgp_v1_)[A-Za-z0-9_\-]{8,}",
            HIDDEN,
            False,
        ),
        (r"(?<![A-Za-z0-9]) AIza[A-Za-z0-9_\-]{10,}", HIDDEN, False),
        (r"(?<![A-Za-z0-9]) (?:AKIA|ASIA)[A-Z0-9]{12,}", HIDDEN, False),
        (r"(?<![A-Za-z0-9]) eyJ[A-Za-z0-9_\-]{8,} (?:\.[A-Za-z0-9_\-]+){1,2}", HIDDEN, False),
    )
)


class Redactor:
    """Hides known secrets, and all that looks like one. Safe to call on any thread."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._lock = threading.Lock()
        self._forms: set[str] = set()
        self._known: re.Pattern[str] | None = None
        if environment:
            self.learn(environment)

    def __repr__(self) -> str:
        return f"Redactor({len(self._forms)} forms of secrets)"

    def add(self, secret: str) -> None:
        """Hides this secret from now on, also as URLs and JSON write it, unless it is shorter than `SHORTEST`."""
        secret = secret.strip()
        if len(secret) < SHORTEST:
            return
        # Also as errors quote it that show what was sent.
        forms = {secret, quote(secret), quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1]}
        forms |= {secret.replace("/", "\\/"), repr(secret)[1:-1]}
        with self._lock:
            if not forms <= self._forms:
                self._forms |= forms
                longest_first = sorted(self._forms, key=len, reverse=True)
                self._known = re.compile("|".join(map(re.escape, longest_first)))

    def learn(self, environment: Mapping[str, str]) -> None:
        """Hides the values of variables whose names say that they hold a secret."""
        for name, value in environment.items():
            if _SECRET_NAME.search(name.upper()) and not value.startswith(("/", "~", "\\")):
                self.add(value)

    def __call__(self, text: str) -> str:
        """Returns the text without secrets."""
        known = self._known
        if known is not None:
            text = known.sub(HIDDEN, text)
        for pattern, instead in _PATTERNS:
            text = pattern.sub(instead, text)
        return text


_WORD = re.compile(r"\w+(?:['’]\w+)*")
_RUN = 3
"""So many words of a conversation in a row are recognised."""


class WordRedactor:
    """Hides runs of words that were said in a conversation."""

    def __init__(self, said: Iterable[str]) -> None:
        self._runs: set[tuple[str, ...]] = set()
        for text in said:
            words = tuple(word.lower() for word in _WORD.findall(text))
            # One or two words alone occur in many lines of a log, unless they hold a number.
            if len(words) < _RUN:
                if any(len(word) >= 4 and any(letter.isdigit() for letter in word) for word in words) or len(words) > 1:
                    self._runs.add(words)
                continue
            self._runs |= {words[at : at + _RUN] for at in range(len(words) - _RUN + 1)}
        self._lengths = sorted({len(run) for run in self._runs}, reverse=True)

    def __call__(self, text: str) -> str:
        """Returns the text without what was said."""
        if not self._runs:
            return text
        found = list(_WORD.finditer(text))
        words = [match[0].lower() for match in found]
        said = [False] * len(words)
        for length in self._lengths:
            for at in range(len(words) - length + 1):
                if tuple(words[at : at + length]) in self._runs:
                    said[at : at + length] = [True] * length
        if not any(said):
            return text
        parts, place, at = [], 0, 0
        while at < len(words):
            if not said[at]:
                at += 1
                continue
            last = at
            while last + 1 < len(words) and said[last + 1]:
                last += 1
            parts += [text[place : found[at].start()], LEFT_OUT]
            place, at = found[last].end(), last + 1
        return "".join(parts) + text[place:]


_redactor = Redactor()


def redactor() -> Redactor:
    """The redactor of this process."""
    return _redactor


def redact(secret: str) -> None:
    """Hides this secret wherever this process keeps or shows its log."""
    _redactor.add(secret)
