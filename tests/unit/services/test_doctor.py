"""Tests what the doctor says about a graphics card."""

from __future__ import annotations

import pytest

from app.diagnostics.machine import Card
from app.services import doctor
from app.services.graphics_service import GraphicsOffer, GraphicsService


@pytest.mark.parametrize(
    ("offer", "words"),
    [
        (
            GraphicsOffer("offered", "It is for another card.", command="card install"),
            "It is for another card. “card install” installs it.",
        ),
        (None, "torch is here, but sees no card. Install NVIDIA's newest driver and restart the machine."),
    ],
)
def test_a_card_that_torch_does_not_see_gets_advice_that_helps(
    offer: GraphicsOffer | None, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "free_card_bytes", lambda: None)
    monkeypatch.setattr(doctor, "require_torch", lambda: None)
    monkeypatch.setattr(GraphicsService, "offer", lambda self: offer)
    report = doctor.Diagnosis()
    assert doctor._tell_cuda(Card("NVIDIA L4", 22 << 30, 21 << 30), report.add) is None
    assert [finding.words for finding in report.findings if finding.about == "CUDA"] == [words]
