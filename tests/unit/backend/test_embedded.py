"""The embedded back-end over a scripted child that dies as planned: it is restarted, and the question asked again."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from app.backend import embedded
from app.backend.base import BackendError, ChatRequest, text_of
from app.backend.embedded import EmbeddedBackend
from app.backend.model_record import ModelRecords
from app.conversation.prompt import ChatMessage
from app.models.catalogue import DEFAULTS
from app.platform import children

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of a Unix")
MEMORY = "the system ended its process, most likely because memory ran out"


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file in which the lives of the next children are written."""
    file = tmp_path / "plan"
    monkeypatch.setattr(
        children,
        "python_module_command",
        lambda *args: [sys.executable, "-P", "-m", "tests.support.dying_server", str(file)],
    )
    return file


@asynccontextmanager
async def opened(
    plan: Path, *lives: str, model: str = "", records: ModelRecords | None = None
) -> AsyncIterator[EmbeddedBackend]:
    """A conversation's back-end. `model`: a key of the catalogue, or empty for a file of the user's own."""
    plan.write_text("\n".join(lives), "utf-8")
    file = plan.with_name("tiny.gguf")
    file.touch()
    backend = EmbeddedBackend(model or file)
    backend.records = records or backend.records
    await backend.open()
    try:
        yield backend
    finally:
        await backend.close()


async def ask(backend: EmbeddedBackend, heard: Callable[[str], object] = lambda text: None) -> str:
    out = ""
    async with backend.stream(ChatRequest((ChatMessage("user", "What is the capital of France?"),))) as items:
        async for text in text_of(items):
            heard(text)
            out += text
    return out


async def test_a_question_that_kills_the_child_is_asked_again(plan: Path) -> None:
    async with opened(plan, "dies at 2") as backend:
        first = backend.served.pid
        assert await ask(backend) == "Paris is it." and backend.served.pid != first
        assert await ask(backend) == "Paris is it."


async def test_a_child_that_dies_again_is_reported_with_its_cause_and_the_next_question_is_answered(plan: Path) -> None:
    async with opened(plan, "dies at 2", "dies at 2") as backend:
        with pytest.raises(BackendError, match=MEMORY) as told:
            await ask(backend)
        assert "Your next question starts it again" in str(told.value)
        assert await ask(backend) == "Paris is it."


async def test_an_answer_that_has_begun_is_not_begun_again(plan: Path) -> None:
    heard: list[str] = []
    async with opened(plan, "breaks at 2") as backend:
        with pytest.raises(BackendError, match=MEMORY):
            await ask(backend, heard.append)
        assert heard == ["Paris"]
        assert await ask(backend) == "Paris is it."


async def test_a_child_that_keeps_dying_is_not_started_in_a_loop(plan: Path) -> None:
    async with opened(plan, "dies at 2", *["exits"] * 50) as backend:
        for _ in range(20):
            with pytest.raises(BackendError, match=r"ended with exit code 3|keeps stopping"):
                await ask(backend)
        started = 50 - len(plan.read_text("utf-8").splitlines())
        assert 1 <= started <= 3


async def test_a_cancelled_request_leaves_the_restart_to_the_next(plan: Path) -> None:
    async with opened(plan, "dies at 2", "answers", "exits") as backend:
        superseded = asyncio.create_task(ask(backend))
        while backend._starting is None or backend._starting.done():
            await asyncio.sleep(0.01)
        superseded.cancel()
        assert await ask(backend) == "Paris is it."
        assert plan.read_text("utf-8").splitlines() == ["exits"]


async def test_two_questions_at_a_time_share_one_restart(plan: Path) -> None:
    async with opened(plan, "dies at 3", "answers", "exits") as backend:
        assert await asyncio.gather(ask(backend), ask(backend)) == ["Paris is it."] * 2
        assert plan.read_text("utf-8").splitlines() == ["exits"]


QUESTION_FIRST = "says The question is an old one, and the answer to it is Paris."
"""An answer that begins as thoughts do."""


async def pieces(backend: EmbeddedBackend) -> int:
    heard: list[str] = []
    assert await ask(backend, heard.append) == f"{QUESTION_FIRST.removeprefix('says ')} "
    return len(heard)


async def test_the_own_models_answers_are_never_held_back(plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedded, "model_file", lambda model: plan)
    for _ in range(2):  # the second conversation gets the process of the first
        async with opened(plan, QUESTION_FIRST, model=DEFAULTS["llm"]) as backend:
            assert await pieces(backend) > 5


async def test_a_model_of_the_users_is_known_from_its_first_answer_in_later_conversations(plan: Path) -> None:
    records = ModelRecords()
    async with opened(plan, QUESTION_FIRST, records=records) as backend:
        await backend.prime(ChatRequest((ChatMessage("user", "Hello."),)))
        assert await pieces(backend) == 1, "one token shows nothing, and this may be a thought"
    async with opened(plan, QUESTION_FIRST, records=records) as backend:
        assert await pieces(backend) > 5
