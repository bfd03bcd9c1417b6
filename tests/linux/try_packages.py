"""Install a package in a bare Linux, use it as an ordinary user would, remove it, and tell what is left.

    debootstrap --variant=minbase bookworm /tmp/bookworm
    python tests/linux/try_packages.py --base /tmp/bookworm --pictures FOLDER dist/kame-desktop_0.1.0_amd64.deb

Takes the Debian package and the self-extracting installer. The user starts it from the menu, asks it a question aloud
in its window and on files, and interrupts its set-up at random moments. Run it as root, with the tests' environment, on
a machine with Xvfb, xdotool, ImageMagick and PulseAudio. The base stays as it is: what changes goes into a layer above
it, which is removed at the end. Needs the package registry and a mirror of the distribution, so continuous integration
leaves it out.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.linux.aloud import talked_aloud  # noqa: E402
from tests.linux.guest import USER, Guest, guest  # noqa: E402
from tests.linux.interruptions import Interruptions  # noqa: E402
from tests.support.read_back import transcribe  # noqa: E402
from tests.support.screen import Screen  # noqa: E402
from tests.support.virtual_audio import VirtualAudio, virtual_audio  # noqa: E402

QUESTION = ROOT / "resources" / "bench" / "questions" / "151_2.flac"
DESKTOP_FILE = "org.kame_desktop.KameDesktop.desktop"
PASSED_ON = re.compile(r"(PIP|UV)_|.*_proxy$|SSL_CERT_FILE$", re.IGNORECASE)
LONGEST_SET_UP = 900.0
CLOSE_SECONDS, TOOL_SECONDS = 30.0, 30.0


@contextmanager
def screen() -> Iterator[str]:
    """A virtual screen; its name."""
    read, write = os.pipe()
    child = subprocess.Popen(
        # Without -noreset it starts anew whenever its last client leaves, and turns those away who come meanwhile.
        ["Xvfb", "-displayfd", str(write), "-ac", "-noreset", "-nolisten", "tcp", "-screen", "0", "1280x900x24"],
        pass_fds=(write,),
        stderr=subprocess.DEVNULL,
    )
    os.close(write)
    try:
        with os.fdopen(read) as answer:
            yield f":{answer.readline().strip()}"
    finally:
        child.terminate()
        child.wait(CLOSE_SECONDS)


@contextmanager
def sound() -> Iterator[tuple[VirtualAudio, Path]]:
    """A virtual microphone and loudspeaker, and the folder through which another user's programs reach them."""
    with virtual_audio() as audio:
        folder = Path(audio.env["ALSA_CONFIG_PATH"]).parent
        folder.chmod(0o755)
        yield audio, folder


def windows(display: str) -> list[str]:
    """The titles of the windows that are seen."""

    def asked(*words: str) -> str:
        env = {**os.environ, "DISPLAY": display}
        return subprocess.run(
            ["xdotool", *words], env=env, capture_output=True, text=True, check=False, timeout=TOOL_SECONDS
        ).stdout

    return [asked("getwindowname", each).strip() for each in asked("search", "--onlyvisible", "--name", ".").split()]


class Trial:
    """One package on one base: each step is told with its seconds."""

    def __init__(self, linux: Guest, display: str, pictures: Path, package: Path) -> None:
        self.linux, self.display, self.pictures, self.package = linux, display, pictures, package

    def told(self, what: str, began: float) -> None:
        print(f"{what}: {time.monotonic() - began:.1f} s", flush=True)

    def picture(self, name: str) -> None:
        """Keep what the screen shows."""
        target = self.pictures / f"{name}.png"
        subprocess.run(
            ["import", "-display", self.display, "-window", "root", str(target)], check=True, timeout=TOOL_SECONDS
        )

    def installed(self) -> None:
        """Install the package as its readers are told to."""
        began, package = time.monotonic(), self.package
        shutil.copy(package, self.linux.folder / "tmp" / package.name)
        if package.suffix == ".deb":
            self.linux.run(f"DEBIAN_FRONTEND=noninteractive apt-get -q -y install /tmp/{package.name}")
        else:
            print(self.linux.run(f"sh /tmp/{package.name} --check", user=True).strip())
            said = self.linux.run(f"sh /tmp/{package.name} --autostart", user=True).strip()
            print(said)
            asks = re.search(r"Please type: sudo (.*)", said)
            if asks:
                self.linux.run(f"DEBIAN_FRONTEND=noninteractive {asks[1]} -q -y --no-install-recommends")
        self.told("installed", began)

    def entry(self) -> str:
        """The command of the menu's entry."""
        places = ("usr/share/applications", f"home/{USER}/.local/share/applications")
        files = [self.linux.folder / place / DESKTOP_FILE for place in places]
        text = next(file for file in files if file.is_file()).read_text("utf-8")
        return shlex.split(re.search(r"(?m)^Exec=(.*)$", text)[1])[0]

    def started(self, name: str) -> None:
        """Start from the menu's entry, and wait for the window; keep pictures of what is seen until then."""
        began = time.monotonic()
        child = self.linux.start(f"DISPLAY={self.display} exec {shlex.quote(self.entry())}")
        seen: set[str] = set()
        while "KAME" not in " ".join(seen - {"KAME Desktop"}):
            if time.monotonic() - began > LONGEST_SET_UP:
                self.picture(f"{name}-late")
                sys.exit(f"No window came. Seen: {sorted(seen)}")
            time.sleep(0.2)
            for title in set(windows(self.display)) - seen:
                seen.add(title)
                self.told(f"{name}: window “{title}”", began)
                time.sleep(1.0 if title != "KAME Desktop" else 4.0)
                self.picture(f"{name}-{len(seen)}")
        time.sleep(4)
        self.picture(f"{name}-open")
        self.left_alone()
        self.closed(child)

    def left_alone(self) -> None:
        """Have the self-extracting installer refuse to upgrade and to remove what runs."""
        if self.package.suffix != ".deb":
            for options in ("", "--uninstall"):
                done = self.linux.tried(f"sh /tmp/{self.package.name} {options}")
                if done.returncode != 2 or "KAME Desktop is running" not in done.stdout:
                    sys.exit(f"The installer did not leave the running app alone: {done.stdout}")

    def closed(self, child: subprocess.Popen[bytes]) -> None:
        """Close the app politely, as a desktop does at its end; end the trial if it goes on."""
        running = list(self.linux.processes(b"-m\0app\0"))
        for process in running:
            os.kill(int(process.name), signal.SIGTERM)
        until = time.monotonic() + CLOSE_SECONDS
        while any(process.exists() for process in running):
            if time.monotonic() > until:
                sys.exit(f"The app still runs {CLOSE_SECONDS:.0f} s after it was asked to end.")
            time.sleep(0.1)
        child.wait(CLOSE_SECONDS)

    def asked(self) -> None:
        """Ask a spoken question; tell what was understood and answered."""
        shutil.copy(QUESTION, self.linux.folder / "tmp" / "question.flac")
        began = time.monotonic()
        words = f"{shlex.quote(self.entry())} talk --input /tmp/question.flac --output answer.wav"
        print(self.linux.run(words, user=True).strip())
        self.told("asked and answered", began)
        answer = Path(shutil.copy(self.linux.folder / "home" / USER / "answer.wav", self.pictures))
        print(f"another recogniser hears: {transcribe(answer)}")

    def removed(self) -> None:
        """Remove the package as its readers are told to."""
        if self.package.suffix == ".deb":
            self.linux.run("kame-desktop card status")  # by root, whose Python could write into the package's folder
            self.linux.run("apt-get -q -y remove kame-desktop")
        else:
            print(self.linux.run(f"sh /tmp/{self.package.name} --uninstall", user=True).strip())


def left(before: set[str], after: set[str]) -> list[str]:
    """The topmost of what is there now and was not before; what is KAME's, or the user's."""
    new = after - before
    tops = {path for path in new if os.path.dirname(path) not in new or path.split("/")[-2] == "kame-desktop"}
    return sorted(path for path in tops if "kame" in path or "/home/" in path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("package", type=Path)
    parser.add_argument("--base", type=Path, required=True, help="the root folder of a bare Linux")
    parser.add_argument("--pictures", type=Path, default=Path("pictures"), help="where pictures of the screen go")
    parser.add_argument("--first", default="true", metavar="COMMAND", help="what root does before")
    parser.add_argument("--interruptions", type=int, default=10, metavar="NUMBER", help="how many set-ups to interrupt")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="for the same interruptions again")
    parser.add_argument("--certificates", type=Path, default=Path("/etc/ssl/certs/ca-certificates.crt"))
    args = parser.parse_args()
    args.pictures.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Stopped."))  # what is mounted is unmounted on the way out
    passed = {name: value for name, value in os.environ.items() if PASSED_ON.match(name)}
    with screen() as display, sound() as (audio, folder):
        passed["PULSE_SERVER"], passed["ALSA_CONFIG_PATH"] = audio.env["PULSE_SERVER"], audio.env["ALSA_CONFIG_PATH"]
        with guest(args.base.resolve(), passed, args.certificates, [folder]) as linux:
            linux.run(args.first)
            trial = Trial(linux, display, args.pictures, args.package)
            before = linux.files()
            print(f"{args.package.name}: {args.package.stat().st_size / 10**6:.1f} MB")
            trial.installed()
            trial.started("first")
            used = subprocess.run(["du", "-sm", str(linux.home)], capture_output=True, text=True, check=True).stdout
            print(f"the user's home: {used.split()[0]} MB")
            trial.started("second")
            command = shlex.quote(trial.entry())
            talked_aloud(linux, command, Screen(display), audio, args.pictures)
            trial.asked()
            if args.interruptions:
                print(f"interruptions with --seed {args.seed}")
                Interruptions(linux, command, random.Random(args.seed)).try_all(args.interruptions)
            trial.removed()
            stays = left(before, linux.files())
            print("left behind:", *stays, sep="\n  ")
            if any(Path(path).parts[0] not in ("home", "root") for path in stays):
                sys.exit("The package has left something outside of the homes.")


if __name__ == "__main__":
    main()
