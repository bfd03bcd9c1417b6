"""Chooses the environment variables that a child process gets: an allow-list, so that no key or password goes along."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

NAMES = frozenset(
    # The user, the system's folders, the language and the time
    "PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TZDIR TMPDIR TEMP TMP USERNAME USERDOMAIN USERPROFILE HOMEDRIVE "
    "HOMEPATH APPDATA LOCALAPPDATA ALLUSERSPROFILE PROGRAMDATA PUBLIC SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT OS "
    "COMPUTERNAME NUMBER_OF_PROCESSORS PROGRAMFILES PROGRAMFILES(X86) PROGRAMW6432 COMMONPROGRAMFILES "
    "COMMONPROGRAMFILES(X86) COMMONPROGRAMW6432 "
    # Libraries and interpreters
    "VIRTUAL_ENV CONDA_PREFIX LOCALE_ARCHIVE GUIX_LOCPATH ESPEAK_DATA_PATH SSL_CERT_FILE SSL_CERT_DIR "
    "REQUESTS_CA_BUNDLE NO_TORCH_COMPILE DO_NOT_TRACK HF_HUB_DISABLE_TELEMETRY "
    # The desktop, with its sound
    "DISPLAY WAYLAND_DISPLAY XAUTHORITY DBUS_SESSION_BUS_ADDRESS DESKTOP_SESSION".split()
)
PREFIXES = tuple(
    "LC_ XDG_ LD_ NIX_LD PYTHON COVERAGE_ COV_ KAME_DESKTOP_ PROCESSOR_ WIN_PD_OVERRIDE_ WINE "
    "OMP_ KMP_ GOMP_ OPENBLAS_ MKL_ GGML_ CT2_ ORT_ CUDA_ NVIDIA_ HIP_ HSA_ ROCR_ TORCH_ "
    "ALSA_ PULSE_ PIPEWIRE_ SPA_ PA_ JACK_ QT_".split()
)
NETWORK_NAMES = frozenset("HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY CURL_CA_BUNDLE NETRC UV_KEYRING_PROVIDER".split())
"""With the prefixes, only for tools that fetch packages: an address of a proxy or a registry may hold a password."""
NETWORK_PREFIXES = ("UV_", "PIP_")
_OF_THE_REGISTRY = ("UV_INDEX_", "PIP_")
"""These pass even where their name speaks of a password: it is for the registry that is fetched from."""
_SECRET = re.compile("KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH")


def child_environment(*, network: bool = False, environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """Returns the variables of this process, or of `environment`, that a child may have.

    `network`: also what a tool needs that fetches packages: proxies, and the settings of its registry.
    """
    found = os.environ if environment is None else environment
    return {name: value for name, value in found.items() if _passes(name.upper(), network)}


def _passes(name: str, network: bool) -> bool:
    if name in NAMES or (network and name in NETWORK_NAMES):
        return True
    if _SECRET.search(name) and not (network and name.startswith(_OF_THE_REGISTRY)):
        return False
    return name.startswith((*PREFIXES, *NETWORK_PREFIXES) if network else PREFIXES)
