"""A second talk in the same process has the models of the first one, and nothing of what was said in it."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

from app import main as compose
from app.audio.io.files import FileSink, FileSource
from app.conversation import events as e
from app.conversation.words import fold
from app.models.pool import MODELS
from app.session.control import SessionChoice
from app.session.session import Session
from tests.support import sounds

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="children are counted in /proc")]
WORDS = "Can you explain why the above question is interesting?"


def children() -> dict[int, str]:
    found = {}
    for task in Path("/proc/self/task").iterdir():
        with suppress(FileNotFoundError):  # the thread has ended since
            for pid in (task / "children").read_text().split():
                command = Path("/proc", pid, "cmdline").read_text().split("\0")
                found[int(pid)] = next(part for part in command if part.startswith("app."))
    return found


@asynccontextmanager
async def talk(question: Path) -> AsyncIterator[Session]:
    sink = FileSink(question.with_name("answer.wav"))
    async with compose.session(SessionChoice(duplex=True), FileSource(question), sink, pace="fast") as made:
        yield made


async def test_talks_have_what_is_loaded_one_after_another_and_share_nothing_else(tmp_path: Path) -> None:
    question = sounds.write(tmp_path / "q.wav", np.concatenate([sounds.question("103_2"), sounds.room(1)]))
    with MODELS.keeping():
        async with talk(question) as first:
            loaded, transcriber = children(), first.parts.transcriber.current._decoder._whisper
            words = asyncio.Event()
            first.add_listener(lambda event: words.set() if isinstance(event, e.TranscriptPartial) else None)
            await words.wait()
        assert first.transcript.last("user").open  # left while the user spoke
        assert children() == loaded and len(loaded) == 3
        speaker = next(pid for pid, module in loaded.items() if module == "app.tts.piper_worker")
        os.kill(speaker, signal.SIGKILL)
        os.waitid(os.P_PID, speaker, os.WEXITED | os.WNOWAIT)
        async with talk(question) as second:
            again = children()
            assert again.keys() & loaded.keys() == loaded.keys() - {speaker}
            assert sorted(again.values()) == sorted(loaded.values())
            assert second.parts.transcriber.current._decoder._whisper is transcriber
            answer = asyncio.Event()
            second.add_listener(lambda event: answer.set() if isinstance(event, e.AssistantSaid) else None)
            await answer.wait()
        assert [fold(turn.text) for turn in second.transcript.turns if turn.speaker == "user"] == [fold(WORDS)]
    assert not children()
