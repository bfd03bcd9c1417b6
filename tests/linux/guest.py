"""The Linux under test: a layer above a bare system's folder, in which commands run as root or as an ordinary user."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

USER, UID = "kim", 1000
MOUNTED = ("proc", "dev", "dev/pts", "dev/shm", "tmp/.X11-unix")
LONGEST_COMMAND = 900.0


class Guest:
    """A folder that commands are run in, as root or as its user."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.folder = folder
        self.home = folder / "home" / USER
        self._environment = {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "LANG": "C.UTF-8",
            **environment,
        }

    def command(self, text: str, user: bool) -> list[str]:
        """The command that runs a shell's command inside."""
        home = f"/home/{USER}" if user else "/root"
        change = ["setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups"] if user else []
        settings = [f"{name}={value}" for name, value in {**self._environment, "HOME": home}.items()]
        return ["chroot", str(self.folder), *change, "env", "-i", *settings, "sh", "-c", f"cd {home} && {text}"]

    def tried(self, text: str, *, user: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a command and return how it ended and what it printed; end the trial if it takes too long."""
        try:
            return subprocess.run(
                self.command(text, user),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                check=False,
                timeout=LONGEST_COMMAND,
            )
        except subprocess.TimeoutExpired as late:
            sys.exit(f"{text}\n{str(late.stdout)[-4000:]}\nhas not ended after {LONGEST_COMMAND:.0f} s.")

    def run(self, text: str, *, user: bool = False) -> str:
        """Run a command and return what it prints; end the trial if it fails."""
        done = self.tried(text, user=user)
        if done.returncode != 0:
            sys.exit(f"{text}\n{done.stdout[-4000:]}\nended with exit code {done.returncode}.")
        return done.stdout

    def start(self, text: str) -> subprocess.Popen[bytes]:
        """Start a command as the user without a terminal, as a desktop's menu does."""
        return subprocess.Popen(
            self.command(text, user=True),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def processes(self, words: bytes) -> Iterator[Path]:
        """The folders in /proc of the guest's own processes whose command line ends with `words`."""
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                inside = os.readlink(process / "root") == str(self.folder)
                if inside and (process / "cmdline").read_bytes().endswith(words):
                    yield process

    def kill_all(self) -> None:
        """End all of the guest's processes at once, as when the power fails."""
        for process in self.processes(b""):
            with suppress(ProcessLookupError):
                os.kill(int(process.name), signal.SIGKILL)

    def files(self) -> set[str]:
        """All files and folders of the disk."""
        found = subprocess.run(
            "find . -xdev ( -path ./proc -o -path ./dev -o -path ./tmp ) -prune -o -print".split(),
            cwd=self.folder,
            stdout=subprocess.PIPE,
            check=True,
            timeout=60,
        )
        return set(found.stdout.decode("utf-8", "surrogateescape").splitlines())


@contextmanager
def guest(
    base: Path, environment: Mapping[str, str], certificates: Path, shared: Sequence[Path] = ()
) -> Iterator[Guest]:
    """A layer above a base, with what a network and a screen need; all is undone at the end. `shared` are folders of
    this machine that are seen inside under the same path."""
    with tempfile.TemporaryDirectory(prefix="kame-trial-") as folder, ExitStack() as undo:
        upper, work, whole = (Path(folder) / name for name in ("upper", "work", "whole"))
        for each in (upper, work, whole):
            each.mkdir()
        layers = f"lowerdir={base},upperdir={upper},workdir={work}"
        undo.enter_context(mounted("-t", "overlay", "-o", layers, "overlay", whole))
        for path in (*map(Path, MOUNTED), *(each.relative_to("/") for each in shared)):
            (whole / path).mkdir(parents=True, exist_ok=True)
            if path.name == "proc":
                undo.enter_context(mounted("-t", "proc", "proc", whole / path))
            else:
                undo.enter_context(mounted("--bind", Path("/") / path, whole / path))
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
        undo.callback(made.kill_all)
        yield made


@contextmanager
def mounted(*words: object) -> Iterator[Path]:
    """What `mount` does with these words, the last of which is where; undone at the end."""
    subprocess.run(["mount", *map(str, words)], check=True, timeout=60)
    try:
        yield Path(str(words[-1]))
    finally:
        subprocess.run(["umount", "--lazy", str(words[-1])], check=False, timeout=60)
