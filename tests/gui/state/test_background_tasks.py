"""Work in the background, and whom its result still reaches."""

from __future__ import annotations

import asyncio
import logging

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject
from PySide6.QtWidgets import QLabel, QWidget

from app.gui.state.background_tasks import BackgroundTasks
from app.session.errors import UserError
from tests.gui.helpers import until


@pytest.mark.parametrize("fails", [False, True])
async def test_a_result_is_dropped_once_the_widget_that_wanted_it_is_deleted(
    fails: bool, caplog: pytest.LogCaptureFixture
) -> None:
    window, gate, shown = QWidget(), asyncio.Event(), []
    background = BackgroundTasks(window)

    async def work() -> str:
        await gate.wait()
        if fails:
            raise UserError("It did not work.")
        return "It worked."

    def ask(label: QLabel, name: str) -> None:
        def show(words: str) -> None:
            label.setText(words)
            shown.append(name)

        background.run(label, name, work, show, show)

    kept, gone = QLabel(window), QLabel(window)
    ask(kept, "kept")
    ask(gone, "gone")
    await asyncio.sleep(0)
    gone.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    gate.set()
    await until(lambda: not background.busy("kept") and not background.busy("gone"))
    await background.close()
    assert shown == ["kept"] and kept.text() in ("It worked.", "It did not work.")
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_a_fault_is_logged_without_its_text_and_told_in_a_sentence(caplog: pytest.LogCaptureFixture) -> None:
    owner, told, secret = QObject(), [], "sk-12345"
    background = BackgroundTasks(owner)

    async def work() -> None:
        raise ValueError(secret)

    background.run(owner, "work", work, lambda _: told.append("done"), told.append)
    await until(lambda: told)
    assert told == ["This failed, because of a fault in the program (ValueError). The log has the details."]
    assert secret not in caplog.text and "“work” failed (ValueError)" in caplog.text
