"""Tests the locks and the licence tables."""

import contextlib
import importlib.metadata
import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import licences
from building.bom import LICENCE, tables
from tests.support.tables import cases
from tests.unit.packaging.fakes import LOCKS, ROOT, names_in


def project_requirements() -> dict[str, list[Requirement]]:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = {"": table["dependencies"], **table["optional-dependencies"]}
    return {group: [Requirement(line) for line in lines] for group, lines in groups.items()}


@pytest.mark.parametrize("path", sorted(LOCKS.glob("*.txt")), ids=lambda path: path.name)
def test_every_pin_has_hashes_and_no_lock_names_a_place(path):
    text = path.read_text()
    assert not re.search(r"://|file:|--index|--find-links|--extra-index|-e |(?<![\w.-])/\w", text)
    entries = re.split(r"(?m)^(?=[A-Za-z0-9])", text)[1:]
    assert entries
    for entry in entries:
        assert re.match(r"[\w.\[\]-]+==\S+", entry), entry
        unproven = path.name.startswith("torch-cu") and "\n# Unproven: " in text
        assert ("--hash=sha256:" in entry) != unproven, entry


@cases(
    "lock, groups",
    ("app.txt", ["", "embedded"]),
    ("dev.txt", ["", "embedded", "dev"]),
    ("card.txt", ["", "embedded", "gpu"]),
    ("gpu.txt", ["", "embedded", "dev", "gpu"]),
)
def test_the_projects_own_dependencies_are_in_the_locks(lock, groups):
    pinned = licences.pins(lock)
    for group in groups:
        for wanted in project_requirements()[group]:
            versions_there = pinned.get(canonicalize_name(wanted.name))
            assert versions_there, f"{wanted} is not in {lock}: run python packaging/bootstrap.py lock"
            assert all(version in wanted.specifier for version in versions_there), f"{lock} has no {wanted}"


def test_the_graphics_libraries_stay_out_of_the_app():
    assert not {"torch", "moshi", "triton"} & names_in((LOCKS / "app.txt").read_text())
    assert not [name for name in names_in((LOCKS / "dev.txt").read_text()) if name.startswith("nvidia")]


def test_all_locks_share_one_resolution():
    everything = licences.pins("gpu.txt")
    for lock in ("app.txt", "card.txt", "dev.txt"):
        assert licences.pins(lock).items() <= everything.items()
    assert licences.pins("app.txt").items() <= licences.pins("card.txt").items()


@pytest.mark.parametrize("lock", ["app.txt", "card.txt", "dev.txt", "gpu.txt"])
def test_a_lock_contains_all_dependencies_except_deliberate_omissions(lock):
    pinned = licences.pins(lock)
    lacking = set()
    for name, versions in pinned.items():
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            installed = importlib.metadata.distribution(name)
            assert installed.version in versions
            needed = [Requirement(line) for line in installed.requires or ()]
            here = [need for need in needed if need.marker is None or need.marker.evaluate({"extra": ""})]
            lacking |= {canonicalize_name(need.name) for need in here} - pinned.keys()
    assert lacking == {"av"}


@pytest.mark.parametrize("name", ["models", "models-dev", "models-optional", "uv"])
def test_the_short_locks_contain_what_their_sources_name(name):
    asked = re.findall(r"(?m)^(\S+)==(\S+)$", (LOCKS / f"{name}.in").read_text())
    assert licences.pins(f"{name}.txt") == {package: [version] for package, version in asked}


def test_the_app_has_one_licence_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["license"] == LICENCE == "Apache-2.0" and project["license-files"] == ["LICENSE"]
    assert (ROOT / "LICENSE").read_bytes() == (ROOT / "resources" / "licences" / "Apache-2.0.txt").read_bytes()


def test_the_licence_tables_are_true():
    assert licences.main(["--check"]) == 0


def test_an_unreviewed_licence_is_refused():
    assert licences.unknown_terms("MIT OR Apache-2.0") == set()
    assert licences.unknown_terms("(MIT AND AGPL-3.0-only)") == {"AGPL-3.0-only"}


def test_the_wheel_contains_every_package_of_the_app_but_research():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
    there = {".".join(path.parent.relative_to(ROOT).parts) for path in (ROOT / "app").rglob("__init__.py")}
    product = {name for name in there if not name.startswith("app.research")}
    assert product < there
    assert product == {name for name in settings["packages"] if "._resources" not in name}


def test_the_licences_cover_the_wheels_of_the_offline_installer():
    page = (ROOT / "resources" / "licences.md").read_text("utf-8")
    rows = [row for row in tables(page) if "In the wheel" in row]
    pinned = licences.pins("app.txt") | licences.pins("models.txt")
    named = [wheel.rsplit(" ", 1) for row in rows for wheel in row["In the wheel"].split(", ")]
    assert len(named) > 8
    assert [(name, version) for name, version in named if [version] != pinned.get(canonicalize_name(name))] == []
