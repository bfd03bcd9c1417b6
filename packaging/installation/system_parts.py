"""The system libraries and programs that the app and its tests need: which are missing, and how to install them.

python3 system_parts.py     print what the app is missing and what to type; exit with 1 if anything is missing
"""

from __future__ import annotations

import ctypes
import glob
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

FOLDER = str(Path(__file__).resolve().parent.parent)
if FOLDER not in sys.path:
    sys.path.append(FOLDER)

from installation.locks import TESTS  # noqa: E402
from installation.places import LINUX  # noqa: E402
from installation.problems import ToolFailed  # noqa: E402
from installation.steps import Steps  # noqa: E402


class Part(NamedTuple):
    """A system library, program or file, and the packages that contain it.

    - `look`: the file name of a library, `bin:NAME` for a program, or `file:PATTERN|PATTERN` with glob patterns
    - `packages`: the package names for apt-get, dnf, pacman and zypper
    """

    look: str
    packages: tuple

    @property
    def name(self) -> str:
        """The name of the library, program or file, without the prefix and the folder."""
        return self.look.split(":")[-1].split("/")[-1]


# What PySide6's Qt libraries and their xcb and Wayland plugins link to but don't bundle.
WINDOW_PARTS = (
    Part("libEGL.so.1", ("libegl1", "libglvnd-egl", "libglvnd", "libglvnd")),
    Part("libGL.so.1", ("libgl1", "libglvnd-glx", "libglvnd", "libglvnd")),
    Part("libfontconfig.so.1", ("libfontconfig1", "fontconfig", "fontconfig", "libfontconfig1")),
    Part("libfreetype.so.6", ("libfreetype6", "freetype", "freetype2", "libfreetype6")),
    Part("libglib-2.0.so.0", ("libglib2.0-0", "glib2", "glib2", "libglib-2_0-0")),
    Part("libgthread-2.0.so.0", ("libglib2.0-0", "glib2", "glib2", "libgthread-2_0-0")),
    Part("libdbus-1.so.3", ("libdbus-1-3", "dbus-libs", "dbus", "libdbus-1-3")),
    Part("libgssapi_krb5.so.2", ("libgssapi-krb5-2", "krb5-libs", "krb5", "krb5")),
    Part("libxkbcommon.so.0", ("libxkbcommon0", "libxkbcommon", "libxkbcommon", "libxkbcommon0")),
    Part("libxkbcommon-x11.so.0", ("libxkbcommon-x11-0", "libxkbcommon-x11", "libxkbcommon-x11", "libxkbcommon-x11-0")),
    Part("libX11.so.6", ("libx11-6", "libX11", "libx11", "libX11-6")),
    Part("libX11-xcb.so.1", ("libx11-xcb1", "libX11-xcb", "libx11", "libX11-xcb1")),
    Part("libxcb.so.1", ("libxcb1", "libxcb", "libxcb", "libxcb1")),
    Part("libxcb-cursor.so.0", ("libxcb-cursor0", "xcb-util-cursor", "xcb-util-cursor", "libxcb-cursor0")),
    Part("libxcb-icccm.so.4", ("libxcb-icccm4", "xcb-util-wm", "xcb-util-wm", "libxcb-icccm4")),
    Part("libxcb-image.so.0", ("libxcb-image0", "xcb-util-image", "xcb-util-image", "libxcb-image0")),
    Part("libxcb-keysyms.so.1", ("libxcb-keysyms1", "xcb-util-keysyms", "xcb-util-keysyms", "libxcb-keysyms1")),
    Part("libxcb-randr.so.0", ("libxcb-randr0", "libxcb", "libxcb", "libxcb-randr0")),
    Part("libxcb-render.so.0", ("libxcb-render0", "libxcb", "libxcb", "libxcb-render0")),
    Part(
        "libxcb-render-util.so.0",
        ("libxcb-render-util0", "xcb-util-renderutil", "xcb-util-renderutil", "libxcb-render-util0"),
    ),
    Part("libxcb-shape.so.0", ("libxcb-shape0", "libxcb", "libxcb", "libxcb-shape0")),
    Part("libxcb-shm.so.0", ("libxcb-shm0", "libxcb", "libxcb", "libxcb-shm0")),
    Part("libxcb-sync.so.1", ("libxcb-sync1", "libxcb", "libxcb", "libxcb-sync1")),
    Part("libxcb-util.so.1", ("libxcb-util1", "xcb-util", "xcb-util", "libxcb-util1")),
    Part("libxcb-xfixes.so.0", ("libxcb-xfixes0", "libxcb", "libxcb", "libxcb-xfixes0")),
    Part("libxcb-xkb.so.1", ("libxcb-xkb1", "libxcb", "libxcb", "libxcb-xkb1")),
    Part("libwayland-client.so.0", ("libwayland-client0", "libwayland-client", "wayland", "libwayland-client0")),
    Part("libwayland-cursor.so.0", ("libwayland-cursor0", "libwayland-cursor", "wayland", "libwayland-cursor0")),
)

SOUND_PARTS = (Part("libportaudio.so.2", ("libportaudio2", "portaudio", "portaudio", "libportaudio2")),)

# What the packages for running the models link to.
MODEL_PARTS = (
    Part("libgomp.so.1", ("libgomp1", "libgomp", "gcc-libs", "libgomp1")),
    Part("libstdc++.so.6", ("libstdc++6", "libstdc++", "gcc-libs", "libstdc++6")),
)

TEST_PARTS = (
    Part("bin:Xvfb", ("xvfb", "xorg-x11-server-Xvfb", "xorg-server-xvfb", "xorg-x11-server-Xvfb")),
    Part("bin:xauth", ("xauth", "xorg-x11-xauth", "xorg-xauth", "xauth")),
    Part("bin:pulseaudio", ("pulseaudio", "pulseaudio", "pulseaudio", "pulseaudio")),
    Part("bin:pactl", ("pulseaudio-utils", "pulseaudio-utils", "libpulse", "pulseaudio-utils")),
    Part(
        "file:/usr/lib*/alsa-lib/libasound_module_pcm_pulse.so|/usr/lib/*/alsa-lib/libasound_module_pcm_pulse.so",
        ("libasound2-plugins", "alsa-plugins-pulseaudio", "alsa-plugins", "alsa-plugins-pulse"),
    ),
    Part("bin:dbus-run-session", ("dbus", "dbus-daemon", "dbus", "dbus-1")),
    Part("bin:gnome-keyring-daemon", ("gnome-keyring", "gnome-keyring", "gnome-keyring", "gnome-keyring")),
    Part(
        "file:/usr/share/fonts/*/DejaVuSans.ttf|/usr/share/fonts/*/*/DejaVuSans.ttf",
        ("fonts-dejavu-core", "dejavu-sans-fonts", "ttf-dejavu", "dejavu-fonts"),
    ),
    Part("bin:import", ("imagemagick", "ImageMagick", "imagemagick", "ImageMagick")),
    Part("bin:xwd", ("x11-apps", "xwd", "xorg-xwd", "xwd")),
    Part("bin:xdotool", ("xdotool", "xdotool", "xdotool", "xdotool")),
    Part("bin:g++", ("g++", "gcc-c++", "gcc", "gcc-c++")),
)

TESTED_PARTS = WINDOW_PARTS + SOUND_PARTS + MODEL_PARTS + TEST_PARTS
"""All components that the tests need on Linux."""

# For the Windows tests: Wine, a cross-compiler, and the tools for building the installer. The tests use the Python
# standard library of Debian 12, so the package names for other distributions don't matter.
WINDOWS_TEST_PARTS = (
    Part("file:/usr/lib/wine/wine64", ("wine64", "wine", "wine", "wine")),
    Part("bin:wineserver", ("wine", "wine", "wine", "wine")),
    Part("file:/usr/share/wine/fonts/tahoma.ttf", ("fonts-wine", "wine-fonts", "wine", "wine")),
    Part("bin:x86_64-w64-mingw32-gcc", ("gcc-mingw-w64-x86-64-posix", "mingw64-gcc", "mingw-w64-gcc", "mingw64-gcc")),
    Part("bin:gendef", ("mingw-w64-tools", "mingw-w64-tools", "mingw-w64-tools", "mingw-w64-tools")),
    Part("bin:osslsigncode", ("osslsigncode", "osslsigncode", "osslsigncode", "osslsigncode")),
    Part("bin:makensis", ("nsis", "mingw32-nsis", "nsis", "nsis")),
)


def system_parts(command: str) -> tuple:
    if not LINUX:
        return ()
    return TESTED_PARTS if command in TESTS else WINDOW_PARTS + SOUND_PARTS + MODEL_PARTS


def is_there(part: Part) -> bool:
    if part.look.startswith("bin:"):
        return shutil.which(part.look[4:]) is not None
    if part.look.startswith("file:"):
        return any(glob.glob(pattern) for pattern in part.look[5:].split("|"))
    try:
        # Loading is reliable; `find_library` runs a compiler and takes a second.
        ctypes.CDLL(part.look)
    except OSError:
        return False
    return True


def missing_parts(parts: Iterable[Part], there: Callable[[Part], bool] = is_there) -> list[Part]:
    """Returns the parts that are missing on this system."""
    return [part for part in parts if not there(part)]


MANAGERS = ("apt-get", "dnf", "pacman", "zypper")


def package_names(parts: Iterable[Part], manager: str) -> list[str]:
    """Returns the names of the packages that contain these parts, in order and without duplicates."""
    index = MANAGERS.index(manager)
    return list(dict.fromkeys(part.packages[index] for part in parts))


def install_commands(manager: str, packages: Sequence[str]) -> tuple:
    """Returns two commands: one to update the package lists, or None, and one to install the packages."""
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
    """Returns the command for users to type to install packages."""
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
    """Returns the command prefix for running as root without a password; empty if already root, None if impossible."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") is None:
        return None
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    allowed = subprocess.run(["sudo", "-n", "true"], env=dict(env), check=False, **quiet).returncode == 0
    return ["sudo", "-n", "env", "DEBIAN_FRONTEND=noninteractive"] if allowed else None


def install_packages(steps: Steps, env: Mapping[str, str], manager: str, packages: Sequence[str]) -> bool:
    """Installs system packages if this is possible without a password; returns whether that succeeded."""
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


def complete_system(steps: Steps, env: Mapping[str, str], parts: Sequence[Part]) -> list[Part]:
    """Tries to install the missing parts; shows and returns those that are still missing."""
    missing = missing_parts(parts)
    if not missing:
        return []
    manager = find_manager()
    if manager is None:
        names = ", ".join(part.name for part in missing)
        steps.say(
            f"Parts of the system are missing, so what needs them does not work: {names}. "
            "Please install them with the system's package manager."
        )
        return missing
    install_packages(steps, env, manager, package_names(missing, manager))
    missing = missing_parts(missing)
    if missing:
        packages = package_names(missing, manager)
        steps.say(
            "Parts of the system are missing and could not be installed from here, so what needs them does not work. "
            "Please type: " + typed_command(manager, packages)
        )
    return missing


def sentence() -> str:
    """Returns a message that says what is missing and what to type; empty if nothing is missing."""
    missing = missing_parts(system_parts("run"))
    if not missing:
        return ""
    manager = find_manager()
    if manager is None:
        names = ", ".join(part.look for part in missing)
        return f"Libraries of the system are missing: {names}. Install them with its package manager."
    command = typed_command(manager, package_names(missing, manager))
    return f"Libraries of the system are missing. Please type: {command}"


if __name__ == "__main__":
    report = sentence()
    if report:
        print(report)
    sys.exit(1 if report else 0)
