"""Install packages with the package manager of a Linux distribution."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence

from installation.problems import ToolFailed
from installation.steps import Steps
from installation.system_parts import Part

MANAGERS = ("apt-get", "dnf", "pacman", "zypper")


def package_names(parts: Iterable[Part], manager: str) -> list[str]:
    """Return the packages that contain these parts, each once, in order."""
    index = MANAGERS.index(manager)
    return list(dict.fromkeys(part.packages[index] for part in parts))


def install_commands(manager: str, packages: Sequence[str]) -> tuple:
    """Return the command that updates the package lists, or None, and the one that installs."""
    if manager == "apt-get":
        wait = ["-o", "DPkg::Lock::Timeout=120"]
        update = ["apt-get", *wait, "update"]
        return update, ["apt-get", *wait, "install", "-y", "--no-install-recommends", *packages]
    if manager == "dnf":
        return None, ["dnf", "install", "-y", "--setopt=install_weak_deps=False", *packages]
    if manager == "pacman":
        return None, ["pacman", "-S", "--needed", "--noconfirm", *packages]
    return None, ["zypper", "--non-interactive", "install", "--no-recommends", *packages]


def typed_command(manager: str, packages: Sequence[str]) -> str:
    """Return what a user types to install packages."""
    short = {
        "apt-get": "sudo apt-get install",
        "dnf": "sudo dnf install",
        "pacman": "sudo pacman -S --needed",
        "zypper": "sudo zypper install",
    }
    return " ".join([short[manager], *packages])


def find_manager() -> str | None:
    return next((name for name in MANAGERS if shutil.which(name)), None)


def as_root(env: Mapping[str, str]) -> list[str] | None:
    """Return what to put before a command to run it as root without a password; None if impossible."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") is None:
        return None
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    allowed = subprocess.run(["sudo", "-n", "true"], env=dict(env), check=False, **quiet).returncode == 0
    return ["sudo", "-n", "env", "DEBIAN_FRONTEND=noninteractive"] if allowed else None


def install_packages(steps: Steps, env: Mapping[str, str], manager: str, packages: Sequence[str]) -> bool:
    """Install system packages if this user may; True if that succeeded."""
    prefix = as_root(env)
    if prefix is None:
        return False
    tools_env = {**env, "DEBIAN_FRONTEND": "noninteractive"}
    update, install = install_commands(manager, packages)

    def attempt(command: list[str]) -> bool:
        try:
            steps.run([*prefix, *command], tools_env)
        except ToolFailed:
            return False
        return True

    with steps.step("Installing system packages: " + " ".join(packages)):
        if update is None:
            return attempt(install) or attempt(install)
        _ = attempt(update) or attempt(update)
        return attempt(install) or (attempt(update) and attempt(install))
