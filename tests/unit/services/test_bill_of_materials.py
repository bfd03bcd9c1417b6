"""Tests the bill of materials, the commands it names, and what the doctor says about a graphics card."""

import json
from pathlib import Path

import pytest

from app.diagnostics.machine import Card
from app.frontend.kame.card_look import CardLook
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
    (
        None,
        "torch is here, but can't use the card (Found no NVIDIA driver). Install NVIDIA's newest driver and restart "
        "the machine.",
    ),
)
def test_a_card_unseen_by_torch_gets_advice(
    offer: GraphicsOffer | None, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "look_with_torch", lambda: CardLook(trouble="Found no NVIDIA driver"))
    monkeypatch.setattr(doctor, "require_torch", lambda: None)
    monkeypatch.setattr(GraphicsService, "offer", lambda self: offer)
    report = doctor.Diagnosis()
    assert doctor._tell_cuda(Card("NVIDIA L4", 22 << 30, 21 << 30), report.add, lambda words: None) is None
    assert [finding.words for finding in report.findings if finding.about == "CUDA"] == [words]


def test_a_card_that_torch_sees_is_planned_with_and_one_that_is_too_old_is_not_asked_about(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(doctor, "look_with_torch", lambda: CardLook(8_150_000_000, 8_250_000_000, 250e9))
    monkeypatch.setattr(doctor, "require_torch", lambda: None)
    monkeypatch.setattr(doctor.GraphicsService, "offer", lambda self: None)
    report = doctor.Diagnosis()
    small, old = (
        Card("a card of 8 GB", 8188 << 20, 8_150_000_000),
        Card("old", 8 << 30, 8 << 30, "The card is too old."),
    )
    assert doctor._tell_cuda(old, report.add, lambda words: None) is None and report.findings == []
    found = doctor._tell_cuda(small, report.add, lambda words: None)
    assert found is not None and report.findings[0].words == "8.2 GB of the card's memory are free"
    advice = doctor._advice_with_card(found, True)
    assert advice.startswith("KAME fits this card in int4, 120 s of context, 7.0 GB."), "the desktop has its share"
    assert "Its memory moves 250 GB/s" in advice and "will keep up" in advice
    unmeasured = CardLook(8_150_000_000, 8_250_000_000, unmeasured="CUDA out of memory")
    assert "could not be measured (CUDA out of memory)." in doctor._advice_with_card(unmeasured, True)
