"""A fake of uv: makes environments, installs packages as empty files, and records its calls. Run as a program, with the
folder of its notes in FAKE_UV. The file `fail` there is what `pip sync` fails with; with the file `wait` it goes on for
a minute, after writing its process id to `waiting`."""

import hashlib
import os
import re
import subprocess
import sys
import time
from base64 import urlsafe_b64encode
from pathlib import Path


def install(site: Path, name: str, version: str) -> None:
    (site / f"{name}.py").write_text(f"version = {version!r}\n")
    metadata = site / f"{name}-{version}.dist-info"
    metadata.mkdir(exist_ok=True)
    data = (site / f"{name}.py").read_bytes()
    digest = urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    (metadata / "RECORD").write_text(f"{name}.py,sha256={digest},{len(data)}\n{metadata.name}/RECORD,,\n")


def main(words: list[str]) -> int:
    notes = Path(os.environ["FAKE_UV"])
    with (notes / "calls").open("a") as calls:
        calls.write(" ".join(words) + "\n")
    if words[0] == "venv":
        python = Path(words[-1]) / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.symlink_to(words[words.index("--python") + 1])
        version = subprocess.check_output([python, "-c", "print the version"], text=True).strip()
        (python.parents[1] / "pyvenv.cfg").write_text(f"version_info = {version}\n")
        (python.parents[1] / "lib" / f"python{version}" / "site-packages").mkdir(parents=True)
        return 0
    cache = Path(os.environ["UV_CACHE_DIR"]) / "archive-v0"
    cache.mkdir(parents=True, exist_ok=True)
    (cache / "part").write_bytes(b"x" * 500_000)
    if (notes / "wait").exists():
        (notes / "half").write_text(str(os.getpid()))
        (notes / "half").rename(notes / "waiting")
        time.sleep(60)
    if (notes / "fail").exists():
        print((notes / "fail").read_text())
        return 2
    site = next(Path(words[words.index("--python") + 1]).parents[1].glob("lib/python3*/site-packages"))
    wanted = [
        pin
        for lock in words
        if lock.endswith(".txt")
        for pin in re.findall(r"(?m)^(\w+)==(\S+)", Path(lock).read_text())
    ]
    for name, version in wanted:
        if not (site / f"{name}-{version}.dist-info").exists():
            install(site, name, version)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
