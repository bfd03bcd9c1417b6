"""Test what the doctor says of a graphics card."""

from __future__ import annotations

import pytest

from app.platform import nvidia
from app.services import doctor
from app.services.graphics_setup import GraphicsSetup
from app.services.graphics_views import GraphicsOffer


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
    card = nvidia.Card("NVIDIA L4", 22 << 30, 21 << 30)
    monkeypatch.setattr(nvidia, "look", lambda seconds: nvidia.Driver("580", (13, 0), (card,)))
    monkeypatch.setattr(doctor, "free_card_bytes", lambda: None)
    monkeypatch.setattr(doctor, "require_torch", lambda: None)
    monkeypatch.setattr(GraphicsSetup, "offer", lambda self: offer)
    found: list[doctor.Finding] = []
    assert doctor._card(found.append)[0] is None
    assert [finding.words for finding in found if finding.about == "CUDA"] == [words]
