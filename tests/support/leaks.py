"""Searches files, texts and logs for a secret; and a server that quotes the key that it receives."""

import base64
import contextlib
import json
import logging
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote, quote_plus

from tests.support.servers import QuietHandler, running

SECRET = "sk-Leak/+=4f9Q~7xT2v&Zk81mWq"
"""Recognisable, and changed by quoting for a URL and by base64."""


def places_with(secret: str, *, folders: Sequence[Path | str] = (), texts: Sequence[str] = ()) -> list[str]:
    """Finds `secret` in plain text, UTF-16, base64, hexadecimal, JSON or a URL; returns where, in words. Searches all
    files below `folders`, with their names, and `texts`, which are named by their index."""
    forms = _forms(secret)
    found: list[str] = []
    for number, text in enumerate(texts):
        found += [f"text {number}: {form}" for form in _in(text.encode("utf-8", "replace"), forms)]
    for folder in map(Path, folders):
        for path in sorted(folder.rglob("*")):
            name = str(path.relative_to(folder)).encode("utf-8", "replace")
            found += [f"the name of {path}: {form}" for form in _in(name, forms)]
            if path.is_file():
                found += [f"{path}: {form}" for form in _in(path.read_bytes(), forms)]
    return found


def _in(data: bytes, forms: dict[bytes, str]) -> list[str]:
    return sorted({name for form, name in forms.items() if form in data})


def _forms(secret: str) -> dict[bytes, str]:
    plain = secret.encode()
    forms = {
        plain: "in clear",
        secret.encode("utf-16-le"): "UTF-16",
        secret.encode("utf-16-be"): "UTF-16",
        plain.hex().encode(): "hexadecimal",
        plain.hex().upper().encode(): "hexadecimal",
    }
    for quoted in (quote(secret), quote(secret, safe=""), quote_plus(secret)):
        forms.setdefault(quoted.encode(), "URL")
    for text in (json.dumps(secret)[1:-1], secret.replace("/", "\\/")):
        forms.setdefault(text.encode(), "JSON")
    for shift in range(3):
        # The characters at both ends also encode what is beside the secret.
        whole = base64.b64encode(b"\0" * shift + plain)
        cut = whole[(0, 2, 3)[shift] : len(whole) - (4 if (len(plain) + shift) % 3 else 0)]
        forms[cut] = forms[cut.replace(b"+", b"-").replace(b"/", b"_")] = "base64"
    return forms


def texts_of(error: BaseException | None) -> list[str]:
    """All texts of an exception and of its causes, contexts and group members."""
    texts, queue, seen = [], [error], set()
    while queue:
        one = queue.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        texts += [str(one), repr(one), repr(one.args), "".join(traceback.format_exception(one))]
        texts += map(str, getattr(one, "__notes__", ()))
        queue += [one.__cause__, one.__context__, *getattr(one, "exceptions", ())]
    return texts


@contextmanager
def all_logs() -> Iterator[list[str]]:
    """Collects what all loggers log at any level, with the exceptions."""
    lines: list[str] = []
    formatter = logging.Formatter("%(name)s %(levelname)s %(message)s")

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            with contextlib.suppress(TypeError, ValueError):
                lines.append(formatter.format(record))
            lines.append(repr(record.args))
            if record.exc_info:
                lines.extend(texts_of(record.exc_info[1]))

    handler = Keep(0)
    root = logging.getLogger()
    named = [logger for logger in logging.root.manager.loggerDict.values() if isinstance(logger, logging.Logger)]
    before = [(logger, logger.level) for logger in (root, *named)]
    not_propagating = [logger for logger in named if not logger.propagate]
    for logger, _ in before:
        logger.setLevel(1)
    for logger in (root, *not_propagating):
        logger.addHandler(handler)
    try:
        yield lines
    finally:
        for logger in (root, *not_propagating):
            logger.removeHandler(handler)
        for logger, level in before:
            logger.setLevel(level)


class _Quoting(QuietHandler):
    protocol_version = "HTTP/1.1"
    status = 401
    seen: list[str]

    def _answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        key = self.headers.get("Authorization", "").removeprefix("Bearer ") or self.headers.get("x-api-key", "")
        self.seen.append(key)
        said = {"error": {"message": f"Incorrect API key provided: {key}.", "code": "invalid_api_key", "param": key}}
        self.send_json(self.status, said)

    do_GET = do_POST = _answer


@contextmanager
def quoting_peer(status: int = 401) -> Iterator[tuple[str, list[str]]]:
    """Runs a server that refuses all requests and quotes the key; yields its URL (without /v1) and the keys."""
    seen: list[str] = []
    handler = type("Handler", (_Quoting,), {"status": status, "seen": seen})
    with running(ThreadingHTTPServer(("127.0.0.1", 0), handler)) as url:
        yield url, seen
