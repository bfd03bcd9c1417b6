"""Notices about one device: each once, when it has lasted, and never in quick succession."""

from __future__ import annotations

import pytest

from app.audio.devices.messages import DeviceNotifier, DeviceStatus
from app.conversation.sound_processing import DeviceKind, DeviceNotice


def notified(*states: tuple[float, str]) -> list[tuple[str, str]]:
    notices: list[DeviceNotice] = []
    notifier = DeviceNotifier("microphone", notices.append)
    notifier.start("A")
    for now, name in states:
        notifier.update(now, name, DeviceStatus(""))
    return [(notice.change, notice.name) for notice in notices]


def test_a_short_loss_is_not_reported() -> None:
    assert notified((0.0, ""), (0.9, ""), (1.0, "A"), (9.0, "A")) == []


def test_a_loss_and_a_return() -> None:
    assert notified((0.0, ""), (1.1, ""), (5.0, "A"), (5.4, "A")) == [("lost", ""), ("back", "A")]


def test_a_loose_plug_causes_few_notices() -> None:
    assert len(notified(*[(at / 10, "AB"[at // 10 % 2]) for at in range(300)])) <= 8


def test_a_refusal_is_reported_once() -> None:
    notices: list[DeviceNotice] = []
    notifier = DeviceNotifier("microphone", notices.append)
    status = DeviceStatus("A", refused=True, problem="“A” is in use.")
    notifier.start("A")
    for at in range(10):
        notifier.update(at / 10, "B", status)
    status.cause = "default"
    for at in range(10, 20):
        notifier.update(at / 10, "C", status)
    assert [notice.sentence.partition(".")[0] for notice in notices] == [
        "“A” is in use",
        "The system's microphone is now “C”: the conversation goes on with it",
    ]


@pytest.mark.parametrize("kind", ["microphone", "loudspeaker"])
def test_a_suspended_device_is_reported_once_it_lasts(kind: DeviceKind) -> None:
    notices: list[DeviceNotice] = []
    notifier = DeviceNotifier(kind, notices.append)
    notifier.start("A")
    for at, suspended in ((0.0, True), (1.5, False), (2.0, True), (3.9, True), (4.1, True), (9.0, True)):
        notifier.update_suspended(at, "A", suspended)
    assert [notice.change for notice in notices] == ["note"] and "suspended" in notices[0].sentence
    notifier.update_suspended(9.1, "A", False)
    notifier.update_suspended(9.2, "A", False)
    assert [(notice.kind, notice.change) for notice in notices] == [(kind, "note"), (kind, "back")]
