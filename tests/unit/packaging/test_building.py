"""Tests the content of the Linux builds, and that two builds of one commit are identical."""

import gzip
import hashlib
import io
import json
import lzma
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from building.bom import bill_of_materials, pins
from building.source import BuildError, Source, read_source
from building.tools import uv_files
from building.wheels import Target
from installation.system_parts import MODEL_PARTS, SOUND_PARTS, WINDOW_PARTS, package_names
from tests.support.tables import cases
from tests.unit.packaging.builds import UV, build, git, make_repository
from tests.unit.packaging.fakes import program

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the packages for Linux are built on Linux")
TARGETS = ("deb", "run", "wheel", "bom")


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> tuple[Path, Path]:
    """A repository with the project's files, and a wheel with a stand-in for uv."""
    folder = tmp_path_factory.mktemp("builds") / "project"
    folder.mkdir()
    return folder, make_repository(folder)


@pytest.fixture(scope="module")
def built(project, tmp_path_factory) -> list[dict[str, bytes]]:
    """All targets twice, in two clones whose environments differ in everything that must not matter."""
    root, wheel = project
    place = tmp_path_factory.mktemp("clones")
    builders = (
        {"UMASK": "022", "TZ": "UTC", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "1"},
        {"UMASK": "077", "TZ": "Asia/Tokyo", "LC_ALL": "C", "PYTHONHASHSEED": "2", "SOURCE_DATE_EPOCH": "1"},
    )
    running = []
    for name, builder in zip(("one", "another with a longer name"), builders, strict=True):
        git(place, "clone", "-q", str(root), name)
        out = place / f"out of {name}"
        running.append((out, build(place / name, wheel, out, TARGETS, **builder)))
    results = []
    for out, child in running:
        printed, _ = child.communicate()
        assert child.returncode == 0, printed
        results.append({path.suffix: path.read_bytes() for path in out.iterdir()})
    return results


@pytest.fixture(scope="module")
def source(project) -> Source:
    return read_source(project[0])


def deb_members(deb: bytes) -> dict[str, tarfile.TarFile]:
    """Reads a Debian package independently of the code that wrote it."""
    assert deb.startswith(b"!<arch>\n")
    found, at = {}, 8
    while at < len(deb):
        name, size = deb[at : at + 16].decode().strip(), int(deb[at + 48 : at + 58])
        assert deb[at + 58 : at + 60] == b"`\n"
        found[name] = deb[at + 60 : at + 60 + size]
        at += 60 + size + size % 2
    assert list(found) == ["debian-binary", "control.tar.xz", "data.tar.xz"] and found["debian-binary"] == b"2.0\n"
    return {name: tarfile.open(fileobj=io.BytesIO(lzma.decompress(found[name]))) for name in list(found)[1:]}


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".deb", ".run", ".whl", ".json"])
def test_two_builds_of_a_commit_are_identical(built, suffix):
    first, second = (hashlib.sha256(each[suffix]).hexdigest() for each in built)
    assert first == second


@pytest.mark.slow
def test_the_debian_package_contains_the_program_for_all_users(built, source):
    data = deb_members(built[0][".deb"])["data.tar.xz"]
    members = {member.name: member for member in data}
    owners = {(member.uid, member.gid, member.uname, member.mtime) for member in members.values()}
    assert owners == {(0, 0, "root", source.epoch)}
    assert {member.mode for member in members.values()} == {0o644, 0o755}
    code = "./usr/lib/kame-desktop"
    assert members[f"{code}/tools/uv"].mode == 0o755 and data.extractfile(f"{code}/tools/uv").read() == UV
    for name in ("LICENSE", "app/__main__.py", "packaging/launcher.py", "packaging/locks/app.txt"):
        assert f"{code}/{name}" in members
    assert f"{code}/resources/bom.json" in members
    copyright = data.extractfile("./usr/share/doc/kame-desktop/copyright").read().decode()
    assert re.search(r"Files: \*\nCopyright: .*\nLicense: Apache-2.0\n", copyright)
    assert not [name for name in members if "/tests/" in name or "locks/dev" in name]
    written = json.load(data.extractfile(f"{code}/installed.json"))
    assert written == {"kind": "deb", "version": source.version, "commit": source.commit}
    command = data.extractfile("./usr/bin/kame-desktop").read().decode()
    assert "code=/usr/lib/kame-desktop\n" in command and "@" not in command.replace('"$@"', "")


@pytest.mark.slow
def test_the_debian_package_depends_on_the_libraries_and_runs_nothing_at_installation(built):
    archive = deb_members(built[0][".deb"])["control.tar.xz"]
    assert sorted(archive.getnames()) == [".", "./control", "./md5sums", "./prerm"]
    control = archive.extractfile("./control").read().decode()
    depends = re.search(r"(?m)^Depends: (.*)$", control)[1]
    asked = {name.strip().split()[0] for name in re.split(r"[,|]", depends)}
    assert set(package_names((*WINDOW_PARTS, *SOUND_PARTS, *MODEL_PARTS), "apt-get")) <= asked
    assert "python3 (>= 3.8)" in depends


@pytest.mark.slow
def test_removing_the_debian_package_removes_what_python_has_compiled(built, tmp_path):
    removal = deb_members(built[0][".deb"])["control.tar.xz"].extractfile("./prerm").read().decode()
    for path in ("app/gui/__pycache__/a.pyc", "packaging/__pycache__/b.pyc", "app/c.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    subprocess.run(["sh", "-c", removal.replace("/usr/lib/kame-desktop", str(tmp_path))], check=True)
    assert [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()] == ["app/c.py"]
    assert not list(tmp_path.rglob("__pycache__"))


@pytest.mark.slow
def test_python_compiles_into_the_users_cache_not_into_the_package(built, tmp_path):
    script = deb_members(built[0][".deb"])["data.tar.xz"].extractfile("./usr/bin/kame-desktop").read().decode()
    program(tmp_path / "bin" / "python3", 'printf "<%s>" "$@"')
    env = {"PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path / "Kim's home")}
    command = ["sh", "-c", script, "kame-desktop", "--check-system"]
    said = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout
    assert f"<-sE><-X><pycache_prefix={env['HOME']}/.cache/kame-desktop/python></usr/lib/kame-desktop/" in said


@pytest.mark.slow
def test_the_manual_page_names_every_command_of_the_app(built):
    packed = deb_members(built[0][".deb"])["data.tar.xz"].extractfile("./usr/share/man/man1/kame-desktop.1.gz").read()
    section = gzip.decompress(packed).decode().split(".SH COMMANDS OF THE APP")[1].split(".SH")[0]
    usage = subprocess.run([sys.executable, "-m", "app", "--help"], capture_output=True, text=True, check=True).stdout
    commands = re.findall(r"(?m)^    (\w+)  ", usage)
    assert len(commands) > 5 and re.findall(r"(?m)^\.B (\w+)$", section) == commands


@pytest.mark.slow
def test_the_menu_entry_has_the_name_that_the_app_gives_the_desktop(built):
    from app.settings.paths import APP_ID

    data = deb_members(built[0][".deb"])["data.tar.xz"]
    entry = data.extractfile(f"./usr/share/applications/{APP_ID}.desktop").read().decode()
    assert 'Exec="/usr/bin/kame-desktop"' in entry and "@" not in entry
    about = data.extractfile(f"./usr/share/metainfo/{APP_ID}.metainfo.xml").read().decode()
    assert f"<id>{APP_ID}</id>" in about and "@" not in about
    assert "<project_license>Apache-2.0</project_license>" in about
    sizes = {name.split("/")[-3] for name in data.getnames() if name.endswith(("kame-desktop.png", "kame-desktop.svg"))}
    assert {"scalable", "48x48", "256x256"} <= sizes


@pytest.mark.slow
def test_the_wheel_contains_the_resources_where_the_app_finds_them(built, tmp_path):
    archive = zipfile.ZipFile(io.BytesIO(built[0][".whl"]))
    names = archive.namelist()
    assert not [name for name in names if not name.startswith(("app/", "kame_desktop-"))]
    assert not [name for name in names if name.startswith(("app/research/", "app/_resources/bench/questions"))]
    [metadata] = [name for name in names if name.endswith(".dist-info/METADATA")]
    assert "\nLicense-Expression: Apache-2.0\n" in archive.read(metadata).decode()
    assert metadata.replace("METADATA", "licenses/LICENSE") in names
    archive.extractall(tmp_path)
    wanted = tuple(
        (
            "licences.md bom.json prices.json icons/kame.svg bench/facts/016.ogg guide/guide.md guide/guide_de.md "
            "translations/core_de.json screenshots/window.png locks/models.txt voices/af_heart.f16"
        ).split()
    )
    code = (
        "import sys; from app.platform.installation import resource; "
        "print(*[resource(*name.split('/')) for name in sys.argv[1:]])"
    )
    command = [sys.executable, "-c", code, *wanted]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()
    assert [Path(path).is_file() for path in found] == [True] * len(wanted)
    assert all(path.startswith(str(tmp_path)) for path in found)


def test_the_bill_lists_every_locked_package_with_its_hashes_and_licence(source):
    bill = json.loads(bill_of_materials(source, "deb"))
    assert (bill["bomFormat"], bill["specVersion"], bill["version"]) == ("CycloneDX", "1.6", 1)
    assert re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", bill["serialNumber"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", bill["metadata"]["timestamp"])
    assert bill["metadata"]["component"]["licenses"] == [{"expression": "Apache-2.0"}]
    components = bill["components"]
    references = [component["bom-ref"] for component in components]
    assert len(references) == len(set(references))
    kinds = {"application", "data", "library", "machine-learning-model", "platform"}
    for component in components:
        assert component["type"] in kinds and component["name"]
        (licence,) = component["licenses"]
        assert licence.get("expression") or licence["license"]["name"]
    hashes = {
        (component["name"], component["version"]): {each["content"] for each in component["hashes"]}
        for component in components
        if "purl" in component
    }
    for lock in ("app", "models", "models-optional", "uv"):
        for pin in pins(source.file(f"packaging/locks/{lock}.txt").decode()):
            assert hashes[pin.name, pin.version] == set(pin.hashes)
    assert ("pytest", "8.4.2") not in hashes and "av" not in {name for name, _ in hashes}


@cases("shipped, numpy", ({"numpy": "ab" * 32}, "part of the installation"), ({}, "fetched when the app"))
def test_the_bill_distinguishes_shipped_and_downloaded_parts(source, shipped, numpy):
    components = json.loads(bill_of_materials(source, "any", shipped=shipped))["components"]
    comes = {each["name"]: each["properties"][0]["value"] for each in components}
    assert comes["numpy"].startswith(numpy) and comes["torch"].startswith("fetched for an NVIDIA graphics card")
    assert comes["uv"] == "part of the installation"
    [hashes] = [[every["content"] for every in each["hashes"]] for each in components if each["name"] == "numpy"]
    assert hashes == list(shipped.values()) if shipped else len(hashes) > 9


def test_the_bill_for_one_system_lists_nothing_of_others(source):
    bill = json.loads(bill_of_materials(source, "windows-offline", target=Target("windows", "3.12")))
    components = bill["components"]
    names = {each["name"]: each for each in components}
    only_elsewhere = {"jeepney", "pulsectl", "python-xlib", "secretstorage", "six", "hf-xet", "triton"}
    assert not only_elsewhere & set(names) and {"pywin32-ctypes", "tzdata", "numpy"} <= set(names)
    assert not [each for each in components for every in each["properties"] if every["name"].endswith("only-where")]
    assert not names["torch"]["hashes"], "it comes from an index whose files the locks don't name"


def test_a_package_without_a_recorded_licence_stops_the_build(source):
    page = source.file("resources/licences.md")
    files = tuple(
        file._replace(data=page.replace(b"| jeepney |", b"| other |")) if file.path == "resources/licences.md" else file
        for file in source.files
    )
    with pytest.raises(BuildError, match="licence of jeepney"):
        bill_of_materials(Source(source.commit, source.version, source.epoch, files), "deb")


def test_another_uv_than_the_locked_one_is_refused(source, tmp_path):
    other = tmp_path / "uv.whl"
    other.write_bytes(b"other")
    with pytest.raises(BuildError, match="by its hash"):
        uv_files(source, "manylinux_2_17_x86_64", other)


def test_the_uv_of_another_system_is_refused(project, source):
    _, wheel = project
    other = wheel.with_name("uv-1-py3-none-win_amd64.whl")
    assert [file.path for file in uv_files(source, "win_amd64", other)] == ["tools/uv.exe", "tools/uv-LICENSE-MIT"]
    with pytest.raises(BuildError, match="is for win_amd64, and manylinux_2_17_x86_64 is built for"):
        uv_files(source, "manylinux_2_17_x86_64", other)


@pytest.mark.slow
def test_only_a_commit_is_built(project, tmp_path):
    git(tmp_path, "clone", "-q", str(project[0]), "changed")
    (tmp_path / "changed" / "new").touch()
    with pytest.raises(BuildError, match="not committed"):
        read_source(tmp_path / "changed")
    with pytest.raises(BuildError, match="git"):
        read_source(Path(os.sep))
