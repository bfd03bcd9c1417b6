"""An installed copy of the app with tiny packages, a local package index, and a fake of the driver's library."""

import base64
import contextlib
import hashlib
import http.server
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from installation.places import OVERRIDE, InstalledPlaces
from installation.steps import clean_environment
from tests.support.driver import RTX_4070
from tests.support.servers import QuietHandler
from tests.unit.packaging.fakes import ROOT

UV = Path(sysconfig.get_path("scripts")) / "uv"
TORCH = """
import os
if os.environ["FAKE_TORCH"] == "broken":
    raise ImportError("libcudart.so.12: cannot open shared object file")
__version__ = "2.9.1+cu128"
class version:
    cuda = "12.8"
class cuda:
    is_available = staticmethod(lambda: os.environ["FAKE_TORCH"] != "blind")
class Ones:
    def __init__(self, value): self.value = value
    def __add__(self, other): return Ones(self.value + other.value)
    def sum(self): return self
    def cpu(self): return self.value
def ones(count, device):
    assert device == "cuda"
    return Ones(float(count) if os.environ["FAKE_TORCH"] != "wrong" else 0.0)
"""


def make_wheel(name: str, version: str, code: str) -> tuple[str, bytes]:
    """Returns the file name and content of a wheel with one module."""
    module = name.replace("-", "_")
    metadata = f"{module}-{version}.dist-info"
    files = {
        f"{module}.py": code,
        f"{metadata}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{metadata}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = []
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
            record.append(f"{path},sha256={digest},{len(text.encode())}")
        archive.writestr(f"{metadata}/RECORD", "\n".join([*record, f"{metadata}/RECORD,,", ""]))
    return f"{module}-{version}-py3-none-any.whl", content.getvalue()


class Index:
    """A local package index that records requests; `held` packages are delivered only after `release`."""

    def __init__(self) -> None:
        self.wheels: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.held = ""
        self.reached, self.release = threading.Event(), threading.Event()
        index = self

        class Handler(QuietHandler):
            def do_GET(self) -> None:
                index.answer(self)

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/simple"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def add(self, name: str, version: str, code: str = "") -> str:
        file, content = make_wheel(name, version, code)
        self.wheels[file] = content
        return f"{name}=={version} --hash=sha256:{hashlib.sha256(content).hexdigest()}\n"

    def answer(self, request: QuietHandler) -> None:
        *_, last = request.path.rstrip("/").split("/")
        if last.endswith(".whl"):
            self.asked.append(last)
            if self.held and last.startswith(self.held):
                self.reached.set()
                self.release.wait(60)
            body, kind = self.wheels[last], "application/octet-stream"
        else:
            files = [name for name in self.wheels if name.startswith(last.replace("-", "_") + "-")]
            body, kind = "".join(f'<a href="/files/{name}">{name}</a>' for name in files).encode(), "text/html"
        with contextlib.suppress(OSError):  # the client was cancelled
            request.send(body, kind)

    def close(self) -> None:
        self.release.set()
        self._server.shutdown()
        self._server.server_close()


class Installation:
    """An installed copy in a folder; its launcher is run as by other programs. `runtime`: the folder of running
    programs; sockets lie in there, whose paths have to be short."""

    def __init__(self, folder: Path, index: Index, library: Path, runtime: Path) -> None:
        self.index = index
        root = folder / "code"
        (root / "packaging").mkdir(parents=True)
        shutil.copy(ROOT / "packaging" / "launcher.py", root / "packaging")
        no_cache = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "packaging" / "installation", root / "packaging" / "installation", ignore=no_cache)
        (root / "app" / "platform").mkdir(parents=True)
        for name in ("nvidia.py", "single_instance.py"):
            shutil.copy(ROOT / "app" / "platform" / name, root / "app" / "platform")
        self.runtime = runtime
        (root / "tools").mkdir()
        (root / "tools" / "uv").symlink_to(UV)
        (root / "python" / "bin").mkdir(parents=True)
        python = getattr(sys, "_base_executable", sys.executable)
        (root / "python" / "bin" / "python3").symlink_to(os.path.realpath(python))
        (root / "installed.json").write_text(json.dumps({"version": "1", "kind": "run", "commit": ""}))
        self.places = InstalledPlaces(root, folder / "data" / "environment")
        self.places.locks.mkdir()
        self.lock = {"numpy-like": index.add("numpy-like", "1.0"), "model": index.add("model", "1.0")}
        self.card = {
            "torch": index.add("torch", "2.9.1", TORCH),
            "nvidia-cuda-runtime-cu12": index.add("nvidia-cuda-runtime-cu12", "12.8.90"),
            "safetensors": index.add("safetensors", "0.7.0"),
            "sentencepiece": index.add("sentencepiece", "0.2.3"),
        }
        self.write_locks()
        self.write_sizes()
        self.variables = {
            **clean_environment(os.environ),
            OVERRIDE: str(self.places.venv),
            "UV_DEFAULT_INDEX": index.url,
            "UV_CONCURRENT_DOWNLOADS": "1",
            "LD_LIBRARY_PATH": str(library.parent),
            "NVML_FAKE_CARDS": RTX_4070,
            "FAKE_TORCH": "fine",
            "HOME": str(folder),
            "XDG_RUNTIME_DIR": str(self.runtime),
            "PATH": "/usr/bin:/bin",
        }

    def write_locks(self) -> None:
        locks = self.places.locks
        (locks / "app.txt").write_text(self.lock["numpy-like"])
        (locks / "models.txt").write_text(self.lock["model"])
        (locks / "card.txt").write_text(self.lock["numpy-like"] + "".join(self.card.values()))

    def write_sizes(self, torch: int = 900_000, torch_version: str = "2.9.1") -> None:
        version = ".".join(map(str, sys.version_info[:2]))
        app = {"numpy-like==1.0": [500, 1000], "model==1.0": [500, 1000]}
        card = {f"torch=={torch_version}": [torch, 2 * torch], "nvidia-cuda-runtime-cu12==12.8.90": [100_000, 200_000]}
        sizes = {f"linux-{version}": app, f"linux-{version}-card": card}
        (self.places.locks / "sizes.json").write_text(json.dumps(sizes))

    def start(self, *words: str, **variables: str) -> subprocess.Popen[bytes]:
        """Starts the launcher with these arguments and --report; `variables` are for this start only."""
        launcher = self.places.root / "packaging" / "launcher.py"
        return subprocess.Popen(
            [sys.executable, str(launcher), "--report", *words],
            env={**self.variables, **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def run(self, *words: str, **variables: str) -> tuple[int, list[dict[str, Any]]]:
        child = self.start(*words, **variables)
        # Its input stays open: closing it means to cancel.
        assert child.stdout is not None and child.stderr is not None
        printed = child.stdout.read()
        errors = child.stderr.read().decode()
        code = child.wait(60)
        for stream in (child.stdin, child.stdout, child.stderr):
            stream.close()  # type: ignore[union-attr]
        assert "Traceback" not in errors, errors
        return code, [json.loads(line) for line in printed.splitlines()]

    @contextlib.contextmanager
    def window(self) -> Iterator[None]:
        """Holds the lock of an open window."""
        import fcntl

        folder = self.runtime / "kame-desktop"
        folder.mkdir(exist_ok=True)
        with (folder / "window.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def status(self) -> dict[str, Any]:
        code, reports = self.run("card", "status")
        assert code == 0
        return reports[0]["card"]

    def modules(self) -> set[str]:
        folder = self.places.site_packages
        return {path.stem for path in folder.glob("*.py")} - {"_virtualenv"}


def end(child: subprocess.Popen[bytes], how: str) -> int:
    """Ends a launcher by closing its input, or by a signal; returns its exit code."""
    if how == "cancel":
        child.stdin.close()
    else:
        child.send_signal(signal.SIGTERM if how == "ask" else signal.SIGKILL)
    child.wait(60)
    for stream in (child.stdin, child.stdout, child.stderr):
        stream.close()  # type: ignore[union-attr]
    return child.returncode
