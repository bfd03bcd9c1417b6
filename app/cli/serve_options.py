"""Reads what the command `serve` is given besides numbers and names: the key for its clients, and its certificate."""

from __future__ import annotations

import ipaddress
import os
import secrets
import ssl
from pathlib import Path

from app.diagnostics.redaction import redact
from app.session.errors import UserError
from app.untrusted.files import read_text
from app.untrusted.limits import VOICE_KEY
from app.untrusted.text import one_line

KEY_VARIABLE = "KAME_SERVER_KEY"


def server_key(host: str, file: Path | None) -> tuple[str, bool]:
    """The key that clients must give, empty for none, and whether it was made just now. Raises UserError.

    It is hidden in the log from now on.
    """
    key = _given_key(file)
    made = not key and not _is_loopback(host)
    if made:
        key = secrets.token_urlsafe(24)
    if key:
        redact(key)
    return key, made


def _given_key(file: Path | None) -> str:
    from app.services.api_keys import KeyRefused, clean_key

    text = os.environ.get(KEY_VARIABLE, "")
    try:
        if file is not None:
            text = read_text(file, VOICE_KEY)
            if not text.strip().strip("\ufeff"):
                raise UserError(
                    f"There is no key in {_shown(file)}, so anybody could come in. Write the key into it, or leave "
                    "out --key-file."
                )
        return clean_key(text) if text.strip() else ""
    except (OSError, ValueError) as error:
        if isinstance(error, KeyRefused):
            raise UserError(str(error)) from None
        reason = (error.strerror or "it can't be read") if isinstance(error, OSError) else error
        raise UserError(
            f"The key in {_shown(file)} can't be read ({reason}). Give a file that holds the key alone."
        ) from None


def _shown(file: Path | None) -> str:
    return one_line(str(file), 300)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def server_tls(certificate: Path | None, key: Path | None) -> ssl.SSLContext | None:
    """What is needed for wss, None without a certificate. Raises UserError."""
    if certificate is None:
        if key is not None:
            raise UserError(
                "A private key alone encrypts nothing, so nothing is served. Give its certificate with --certificate "
                "too, or leave out --certificate-key."
            )
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as error:
        raise UserError(
            f"The certificate {_shown(certificate)} can't be used ({error}). Give a chain in PEM, and its private "
            "key with --certificate-key."
        ) from error
    return context
