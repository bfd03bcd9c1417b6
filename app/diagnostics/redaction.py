"""Redacts keys, tokens, passwords and conversation text in strings before they are stored or shown."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterable, Mapping
from urllib.parse import quote, quote_plus

HIDDEN = "[hidden]"

LEFT_OUT = "[words]"

SHORTEST = 8
"""The minimum length of a secret: shorter strings are unlikely to be keys and would match too many ordinary words."""

_SECRET_NAME = re.compile(r"(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASS|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?)(?:_|$)")
"""Matches the upper-case names of variables that hold secrets."""

# The value of a secret: a quoted string, or the text up to the next space or quote. Skips values already hidden.
_VALUE = r"""(?!b?["']?\[hidden\])(?:b?(?P<q>["'])(?:(?!(?P=q)).)+(?:(?P=q)|$)|[^\s"'<>]+)"""
_OPEN = r"""["']? \s*[:=,]\s* (?:b(?=["']))? ["']?"""
_NAMES = r"""(?<![\w-]) [\w-]{0,60}? (?:
    api[_\s-]?key | access[_-]?key | secret | password | passwd | passphrase | pwd | credentials?
    | (?:auth|access|refresh|id)[_-]?token
) (?:[_-]\w{1,40})?"""
# All repetitions are bounded, so that matching can't become slow.
_SECRETS = (
    # The user name and password in a URL, even if the password contains unescaped reserved characters.
    r"(?P<kept>://) [^\s\"'<>/?\#]{1,400} (?=@)",
    r"(?P<kept>://) [^\s\"'<>/@:]{0,200} : (?!\d{1,5}(?:[/?\#\s]|$)) [^\s\"'<>]{0,400} (?=@)",
    # HTTP headers, in wire format and as a Python repr.
    rf"(?P<kept>\b(?:proxy-)?authorization {_OPEN}) (?:(?:bearer|basic|token|digest)\s+)? [^\s\"'<>]+",
    r"(?P<kept>\bx-[a-z-]{0,40}(?:key|token) [\"']? \s*[:=,]\s*)" + _VALUE,
    rf"(?P<kept>\b(?:set-)?cookie {_OPEN}) [^\r\n\"']+",
    r"(?P<kept>\bbearer\s+) (?!\[hidden\]) [^\s\"'<>]{6,}",
    # Values whose name marks them as secret.
    rf"(?P<kept>{_NAMES} [\"']? \s*[:=]\s*)" + _VALUE,
    r"(?P<kept>(?<![\w-]) (?:[\w-]{0,60}[_-])? (?:key|token|auth|signature|sig) (?:[_-]\w{1,40})? [\"']? \s*=\s*)"
    r"(?!\d{1,9}\b(?!-)) (?!\[hidden\]) (?:[\"'][^\s\"']+[\"']? | [^\s\"'<>&]{6,})",
    r"(?P<kept>[\"'](?:key|token)[\"']\s*:\s*) [\"'][^\s\"']{6,}[\"']",
    r"(?P<kept>\b(?:key|token) (?:\s+\w{1,20}){0,2} \s*[:=]\s*) (?=[^\s]{0,200}\d) [^\s\"'<>]{16,}",
)
"""Patterns of secrets, in any case; the group `kept` before them stays."""
_KEYS = (
    r"(?:sk|pk|rk)-[^\s\"'<>]{8,}",
    r"(?:sk|rk|gsk|hf|ghp|gho|ghs|ghu|r8|whsec)_[A-Za-z0-9_\-]{8,}",
    r"(?:xai-|pplx-|nvapi-|glpat-|github_pat_|xox[abprs]-|csk-|fw_|tgp_v1_)[A-Za-z0-9_\-]{8,}",
    r"AIza[A-Za-z0-9_\-]{10,}",
    r"(?:AKIA|ASIA)[A-Z0-9]{12,}",
    r"eyJ[A-Za-z0-9_\-]{8,} (?:\.[A-Za-z0-9_\-]+){1,2}",
)
"""Patterns of keys with a known prefix."""
_PATTERNS = (
    *((re.compile(pattern, re.VERBOSE | re.IGNORECASE), rf"\g<kept>{HIDDEN}") for pattern in _SECRETS),
    *((re.compile(rf"(?<![A-Za-z0-9]) {pattern}", re.VERBOSE), HIDDEN) for pattern in _KEYS),
)


class Redactor:
    """Hides known secrets and anything that looks like one. Thread-safe."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._lock = threading.Lock()
        self._forms: set[str] = set()
        self._known: re.Pattern[str] | None = None
        if environment:
            self.learn(environment)

    def __repr__(self) -> str:
        return f"Redactor({len(self._forms)} forms of secrets)"

    def add(self, secret: str) -> None:
        """Registers a secret to be hidden, also in its URL- and JSON-encoded forms; ignores it if it is too short."""
        secret = secret.strip()
        if len(secret) < SHORTEST:
            return
        # All forms in which an error message that quotes a request may contain it.
        forms = {secret, quote(secret), quote(secret, safe=""), quote_plus(secret), json.dumps(secret)[1:-1]}
        forms |= {secret.replace("/", "\\/"), repr(secret)[1:-1]}
        with self._lock:
            if not forms <= self._forms:
                self._forms |= forms
                longest_first = sorted(self._forms, key=len, reverse=True)
                self._known = re.compile("|".join(map(re.escape, longest_first)))

    def learn(self, environment: Mapping[str, str]) -> None:
        """Registers the values of variables whose names suggest a secret, except file paths."""
        for name, value in environment.items():
            if _SECRET_NAME.search(name.upper()) and not value.startswith(("/", "~", "\\")):
                self.add(value)

    def __call__(self, text: str) -> str:
        """Returns `text` with secrets replaced by `HIDDEN`."""
        known = self._known
        if known is not None:
            text = known.sub(HIDDEN, text)
        for pattern, instead in _PATTERNS:
            text = pattern.sub(instead, text)
        return text


_WORD = re.compile(r"\w+(?:['’]\w+)*")
_RUN = 3
"""The number of consecutive words from a conversation that count as a match."""


class WordRedactor:
    """Hides sequences of words taken from a conversation."""

    def __init__(self, said: Iterable[str]) -> None:
        self._runs: set[tuple[str, ...]] = set()
        for text in said:
            words = tuple(word.lower() for word in _WORD.findall(text))
            # A single word is too common in log lines to redact, unless it contains a digit.
            if len(words) < _RUN:
                if any(len(word) >= 4 and any(letter.isdigit() for letter in word) for word in words) or len(words) > 1:
                    self._runs.add(words)
                continue
            self._runs |= {words[at : at + _RUN] for at in range(len(words) - _RUN + 1)}
        self._lengths = sorted({len(run) for run in self._runs}, reverse=True)

    def __call__(self, text: str) -> str:
        """Returns `text` with conversation text replaced by `LEFT_OUT`."""
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
    """Returns the process-wide redactor."""
    return _redactor


def redact(secret: str) -> None:
    """Adds a secret to the process-wide redactor."""
    _redactor.add(secret)
