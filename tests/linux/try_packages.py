"""Install a package in a bare Linux, use it as an ordinary user would, remove it, and tell what is left.

    debootstrap --variant=minbase bookworm /tmp/bookworm
    python tests/linux/try_packages.py --base /tmp/bookworm --pictures FOLDER dist/kame-desktop_0.1.0_amd64.deb

Takes the Debian package and the self-extracting installer. Run it as root, with the tests' environment, on a machine
with Xvfb, xdotool and ImageMagick. The base stays as it is: what changes goes into a layer above it, which is removed
at the end. Needs the package registry and a mirror of the distribution, so continuous integration leaves it out.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.support.ear import transcribe  # noqa: E402

QUESTION = ROOT / "resources" / "bench" / "questions" / "151_2.flac"
USER, UID = "kim", 1000
DESKTOP_FILE = "org.kame_desktop.KameDesktop.desktop"
PASSED_ON = re.compile(r"(PIP|UV)_|.*_proxy$|SSL_CERT_FILE$", re.IGNORECASE)
MOUNTED = ("proc", "dev", "dev/pts", "dev/shm", "tmp/.X11-unix")
LONGEST_SET_UP = 900.0


class Guest:
    """The Linux under test: a folder that commands are run in, as root or as its user."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.folder = folder
        self._environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8",
                             **environment}  # fmt: skip

    def command(self, text: str, user: bool) -> list[str]:
        """The command that runs a shell's command inside."""
        home = f"/home/{USER}" if user else "/root"
        change = ["setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups"] if user else []
        settings = [f"{name}={value}" for name, value in {**self._environment, "HOME": home}.items()]
        return ["chroot", str(self.folder), *change, "env", "-i", *settings, "sh", "-c", f"cd {home} && {text}"]

    def run(self, text: str, *, user: bool = False) -> str:
        """Run a command and return what it prints; end the trial if it fails."""
        done = subprocess.run(
            self.command(text, user), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace", check=False,
        )  # fmt: skip
        if done.returncode != 0:
            sys.exit(f"{text}\n{done.stdout[-4000:]}\nended with exit code {done.returncode}.")
        return done.stdout

    def start(self, text: str) -> subprocess.Popen[bytes]:
        """Start a command as the user without a terminal, as a desktop's menu does."""
        return subprocess.Popen(
            self.command(text, user=True), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip

    def processes(self, words: bytes) -> Iterator[Path]:
        """The folders in /proc of the guest's own processes whose command line ends with `words`."""
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                inside = os.readlink(process / "root") == str(self.folder)
                if inside and (process / "cmdline").read_bytes().endswith(words):
                    yield process

    def files(self) -> set[str]:
        """All files and folders of the disk."""
        found = subprocess.run(
            ["find", ".", "-xdev", "(", "-path", "./proc", "-o", "-path", "./dev", "-o", "-path", "./tmp", ")",
             "-prune", "-o", "-print"], cwd=self.folder, stdout=subprocess.PIPE, check=True,
        )  # fmt: skip
        return set(found.stdout.decode("utf-8", "surrogateescape").splitlines())


@contextmanager
def guest(base: Path, environment: Mapping[str, str], certificates: Path) -> Iterator[Guest]:
    """A layer above a base, with what a network and a screen need; all is undone at the end."""
    with tempfile.TemporaryDirectory(prefix="kame-trial-") as folder, ExitStack() as undo:
        upper, work, whole = (Path(folder) / name for name in ("upper", "work", "whole"))
        for each in (upper, work, whole):
            each.mkdir()
        layers = f"lowerdir={base},upperdir={upper},workdir={work}"
        _mount(undo, "-t", "overlay", "-o", layers, "overlay", whole)
        for name in MOUNTED:
            (whole / name).mkdir(parents=True, exist_ok=True)
            if name == "proc":
                _mount(undo, "-t", "proc", "proc", whole / name)
            else:
                _mount(undo, "--bind", Path("/") / name, whole / name)
        (whole / "tmp").chmod(0o1777)
        shutil.copy("/etc/resolv.conf", whole / "etc" / "resolv.conf")
        shutil.copy("/etc/hosts", whole / "etc" / "hosts")
        trusted = whole / "etc" / "ssl" / "certs"
        trusted.mkdir(parents=True, exist_ok=True)
        shutil.copy(certificates, trusted / "trial.crt")
        known = {"SSL_CERT_FILE": "/etc/ssl/certs/trial.crt", "PIP_CERT": "/etc/ssl/certs/trial.crt"}
        made = Guest(whole, {**environment, **known})
        made.run("apt-get -q update")
        made.run(f"useradd --create-home --uid {UID} {USER}")
        undo.callback(_end_all, made)
        yield made


def _end_all(linux: Guest) -> None:
    for process in linux.processes(b""):
        os.kill(int(process.name), signal.SIGKILL)


def _mount(undo: ExitStack, *words: object) -> None:
    subprocess.run(["mount", *map(str, words)], check=True)
    undo.callback(subprocess.run, ["umount", "--lazy", str(words[-1])], check=False)


@contextmanager
def screen() -> Iterator[str]:
    """A virtual screen; its name."""
    read, write = os.pipe()
    child = subprocess.Popen(
        # Without -noreset it starts anew whenever its last client leaves, and turns those away who come meanwhile.
        ["Xvfb", "-displayfd", str(write), "-ac", "-noreset", "-nolisten", "tcp", "-screen", "0", "1280x900x24"],
        pass_fds=(write,), stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(write)
    try:
        with os.fdopen(read) as answer:
            yield f":{answer.readline().strip()}"
    finally:
        child.terminate()
        child.wait()


def windows(display: str) -> list[str]:
    """The titles of the windows that are seen."""
    words = ["xdotool", "search", "--onlyvisible", "--name", "."]
    env = {**os.environ, "DISPLAY": display}
    found = subprocess.run(words, env=env, capture_output=True, text=True, check=False).stdout.split()
    names = [subprocess.run(["xdotool", "getwindowname", each], env=env, capture_output=True, text=True, check=False)
             for each in found]  # fmt: skip
    return [name.stdout.strip() for name in names]


class Trial:
    """One package on one base: each step is told with its seconds."""

    def __init__(self, linux: Guest, display: str, pictures: Path) -> None:
        self.linux, self.display, self.pictures = linux, display, pictures

    def told(self, what: str, began: float) -> None:
        print(f"{what}: {time.monotonic() - began:.1f} s", flush=True)

    def picture(self, name: str) -> None:
        """Keep what the screen shows."""
        target = self.pictures / f"{name}.png"
        subprocess.run(["import", "-display", self.display, "-window", "root", str(target)], check=True)

    def installed(self, package: Path) -> None:
        """Install the package as its readers are told to."""
        began = time.monotonic()
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
        self.closed(child)

    def closed(self, child: subprocess.Popen[bytes]) -> None:
        """Close the app politely, as a desktop does at its end."""
        running = list(self.linux.processes(b"-m\0app\0"))
        for process in running:
            os.kill(int(process.name), signal.SIGTERM)
        while any(process.exists() for process in running):
            time.sleep(0.1)
        child.wait()

    def asked(self) -> None:
        """Ask a spoken question; tell what was understood and answered."""
        shutil.copy(QUESTION, self.linux.folder / "tmp" / "question.flac")
        began = time.monotonic()
        words = f"{shlex.quote(self.entry())} talk --input /tmp/question.flac --output answer.wav"
        print(self.linux.run(words, user=True).strip())
        self.told("asked and answered", began)
        answer = Path(shutil.copy(self.linux.folder / "home" / USER / "answer.wav", self.pictures))
        print(f"another ear hears: {transcribe(answer)}")

    def removed(self, package: Path) -> None:
        """Remove the package as its readers are told to."""
        if package.suffix == ".deb":
            self.linux.run("apt-get -q -y remove kame-desktop")
        else:
            print(self.linux.run(f"sh /tmp/{package.name} --uninstall", user=True).strip())


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
    parser.add_argument("--certificates", type=Path, default=Path("/etc/ssl/certs/ca-certificates.crt"))
    args = parser.parse_args()
    args.pictures.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("Stopped."))  # what is mounted is unmounted on the way out
    passed = {name: value for name, value in os.environ.items() if PASSED_ON.match(name)}
    with screen() as display, guest(args.base.resolve(), passed, args.certificates) as linux:
        linux.run(args.first)
        trial = Trial(linux, display, args.pictures)
        before = linux.files()
        print(f"{args.package.name}: {args.package.stat().st_size / 10**6:.1f} MB")
        trial.installed(args.package)
        trial.started("first")
        home = linux.folder / "home" / USER
        used = subprocess.run(["du", "-sm", str(home)], capture_output=True, text=True, check=True).stdout.split()[0]
        print(f"the user's home: {used} MB")
        trial.started("second")
        trial.asked()
        trial.removed(args.package)
        print("left behind:", *left(before, linux.files()), sep="\n  ")


if __name__ == "__main__":
    main()
