"""Tests the bill of materials, the commands it names, and what the doctor says about a graphics card."""

import json
from pathlib import Path

import pytest

from app.diagnostics.machine import Card
from app.platform import installation as installed_module
from app.platform.installation import completing_command, installed
from app.services import doctor
from app.services.bill_of_materials import Part, read_bill
from app.services.graphics_service import GraphicsOffer, GraphicsService
from tests.support.tables import cases


def test_parts_are_read_by_name_with_the_words_of_their_licences(tmp_path: Path) -> None:
    bill = tmp_path / "bom.json"
    bill.write_text(
        json.dumps(
            {
                "metadata": {
                    "component": {"name": "kame", "version": "1.0", "licenses": [{"expression": "Apache-2.0"}]}
                },
                "components": [
                    {
                        "name": "torch",
                        "version": "2.9.1",
                        "scope": "optional",
                        "licenses": [{"license": {"name": "BSD and more"}}],
                    },
                    {"name": "SmolLM2", "licenses": [{"expression": "Apache-2.0"}]},
                ],
            }
        )
    )
    assert read_bill(bill) == [
        Part("kame", "1.0", "Apache-2.0", False),
        Part("SmolLM2", "", "Apache-2.0", False),
        Part("torch", "2.9.1", "BSD and more", True),
    ]


def test_without_a_bill_there_are_no_parts(tmp_path: Path) -> None:
    assert read_bill(tmp_path / "none.json") == []


@pytest.mark.parametrize("text", ["", "{}", '{"components": [{"name": "torch"}]}'])
def test_a_broken_bill_is_told(tmp_path: Path, text: str) -> None:
    bill = tmp_path / "bom.json"
    bill.write_text(text)
    with pytest.raises(ValueError, match="can't be read"):
        read_bill(bill)


def test_a_checkout_is_known_by_its_project_file() -> None:
    here = installed()
    assert (here.kind, here.version[:2]) == ("checkout", "0.")
    assert completing_command() == "python3 packaging/bootstrap.py setup"


@cases(
    "written, kind, command",
    ('{"kind": "deb", "version": "1.2.3", "commit": "abc"}', "deb", "kame-desktop repair"),
    (None, "wheel", "kame-desktop models get default"),
    ("broken", "wheel", "kame-desktop models get default"),
)
def test_other_installations_name_other_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str | None, kind: str, command: str
) -> None:
    if written is not None:
        (tmp_path / "installed.json").write_text(written)
    monkeypatch.setattr(installed_module, "__file__", str(tmp_path / "app" / "platform" / "installation.py"))
    installed.cache_clear()
    try:
        assert installed().kind == kind
        assert completing_command() == command
    finally:
        installed.cache_clear()


@cases(
    "offer, words",
    (
        GraphicsOffer("offered", "It is for another card.", command="card install"),
        "It is for another card. “card install” installs it.",
    ),
    (None, "torch is here, but sees no card. Install NVIDIA's newest driver and restart the machine."),
)
def test_a_card_unseen_by_torch_gets_advice(
    offer: GraphicsOffer | None, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "free_card_bytes", lambda: None)
    monkeypatch.setattr(doctor, "require_torch", lambda: None)
    monkeypatch.setattr(GraphicsService, "offer", lambda self: offer)
    report = doctor.Diagnosis()
    assert doctor._tell_cuda(Card("NVIDIA L4", 22 << 30, 21 << 30), report.add) is None
    assert [finding.words for finding in report.findings if finding.about == "CUDA"] == [words]
