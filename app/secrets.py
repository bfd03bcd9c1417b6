"""API keys: the environment's variable, else the operating system's keyring. Never a file in clear.

A key goes from here straight into the adapter that needs it, and into nothing else.
"""

from __future__ import annotations

import os

SERVICE = "kame-desktop"


def api_key(variable: str) -> str:
    """The key that `variable` names ("OPENAI_API_KEY"), or an empty string."""
    if not variable:
        return ""
    if value := os.environ.get(variable, "").strip():
        return value
    try:
        import keyring

        return keyring.get_password(SERVICE, variable) or ""
    except Exception:
        return ""  # no keyring on this machine, or it is locked: there is no key then
