"""The command line on Windows: set-up, doctor, devices, keys in Credential Locker."""

from __future__ import annotations

import shutil
import sys

from app.models.catalogue import models_of
from tests.windows.conftest import TABLE
from tests.windows.installation import Installation


def test_bootstrap_sets_the_project_up(windows: Installation) -> None:
    """By its own command, with a Windows Python, in a folder with a space below a profile with umlauts."""
    assert windows.python.exists() and (windows.project / ".venv" / "bootstrap.json").exists()
    again = windows.wine.run(windows.base / "python.exe", "packaging/bootstrap.py", "setup", cwd=windows.project)
    assert again.code == 0 and not again.printed.strip(), again.printed
    version = windows.wine.run(windows.python, "-c", "import sys; print(sys.version, sys.getwindowsversion()[:3])")
    TABLE.append(f"Windows Python: {version.printed.strip()}; tests driven by Python {sys.version.split()[0]}")


def test_doctor_finds_all_parts_of_the_embedded_default(windows: Installation) -> None:
    done = windows.app("doctor", "--json")
    found = {finding["about"]: finding for finding in done.document["findings"]}
    assert done.code == 0, done.printed
    for about in ("processor", "sound", "back-end embedded", "built-in voice"):
        assert found[about]["verdict"] == "good", found[about]
    # The verdict on the disk is the machine's own: there is room for the largest front-end, or there is not.
    free, largest = shutil.disk_usage(windows.project).free, max(model.bytes for model in models_of("frontend"))
    if abs(free - largest) > 1e9:
        assert found["disk"]["verdict"] == ("good" if free > largest else "note"), (found["disk"], free)
    assert abs(int(found["disk"]["words"].split()[0]) - free / 1e9) < 2, (found["disk"], free)


def test_devices_are_those_of_wasapi(windows: Installation) -> None:
    done = windows.app("devices")
    assert done.code == 0 and "Windows WASAPI" in done.printed, done.printed
    assert "KAME-Mic " in done.printed and "KAME-Speaker " in done.printed
    assert "default microphone" in done.printed and "default loudspeaker" in done.printed


def test_a_key_is_kept_in_the_credential_locker(windows: Installation) -> None:
    """Set by one process, found by another, gone after `forget`; never printed."""
    secret = "sk-" + "w" * 40
    script = (
        "import keyring; from app.services.api_keys import key_store; "
        "print(type(keyring.get_keyring()).__name__); s = key_store(); {}"
    )

    def run(code: str) -> str:
        done = windows.wine.run(windows.python, "-c", script.format(code), cwd=windows.project)
        assert done.code == 0, done.printed
        return done.printed

    assert "WinVaultKeyring" in run(f"s.keep('OPENAI_API_KEY', '{secret}')")
    listed = windows.app("keys", "list")
    assert "in the system's keyring" in listed.printed and secret not in listed.printed, listed.printed
    assert secret in run("print(s.find(('OPENAI_API_KEY',))[0])")
    assert windows.app("keys", "forget", "openai").code == 0
    assert secret not in run("print(s.find(('OPENAI_API_KEY',))[0])")
