"""Compares version numbers, such as 1.2.0, 1.3.0rc1 or 1.3.0.dev2 (the common part of Python's PEP 440)."""

from __future__ import annotations

import math
import re

_VERSION = re.compile(
    r"v?(?P<release>\d{1,6}(\.\d{1,6}){0,5})((?P<phase>a|b|rc)(?P<number>\d{1,6}))?"
    r"(\.post(?P<post>\d{1,6}))?(\.dev(?P<dev>\d{1,6}))?"
)
_PHASES = {"a": 0, "b": 1, "rc": 2}
_FINAL, _DEV = 3, -1


def version_key(text: str) -> tuple[object, ...]:
    """Returns what versions are sorted by. Raises ValueError for what is no version."""
    found = _VERSION.fullmatch(text.strip())
    if found is None:
        raise ValueError("this is no version number")
    release = [int(part) for part in found["release"].split(".")]
    while len(release) > 1 and release[-1] == 0:
        release.pop()
    post = -1 if found["post"] is None else int(found["post"])
    dev = math.inf if found["dev"] is None else int(found["dev"])
    phase, number = (_FINAL, 0) if found["phase"] is None else (_PHASES[found["phase"]], int(found["number"]))
    if found["phase"] is None and post < 0 and dev != math.inf:
        phase = _DEV
    return (tuple(release), phase, number, post, dev)


def is_newer(version: str, than: str) -> bool:
    """Whether one version comes after the other. Raises ValueError."""
    return version_key(version) > version_key(than)
