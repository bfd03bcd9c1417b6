"""Documents of a conversation: what the models are given of them, from which request on, and until when."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from app.backend.base import ChatRequest, Traits
from app.backend.embedded_models import LARGER, SMALL
from app.backend.scripted import ScriptedBackend, answer
from app.conversation import events as e
from app.conversation.prompt import DOCUMENT_BYTES, LONG_DOCUMENT_BYTES, ChatMessage, Document
from app.session.control import BackendChoice
from app.session.session import Session
from tests.support.talks import Talk, simulate

MILL = Document("mill.txt", "The mill by the river belongs to Ada.")
LONG = Document("long.txt", "grain " * 3_900)


def _reply(request: ChatRequest) -> object:
    return answer("It belongs to somebody.")


def talk(*steps: tuple[float, Callable[[Session], None]], **wanted: object) -> Talk:
    """A talk with these steps at these times in seconds."""

    def during(session: Session) -> None:
        for at, step in steps:
            asyncio.get_running_loop().call_later(at, step, session)

    return simulate([], _reply, seconds=14.0, during=during, **wanted)  # type: ignore[arg-type]


def ask(text: str) -> Callable[[Session], None]:
    return lambda session: session.write(text)


def with_documents(*documents: Document) -> Callable[[Session], None]:
    return lambda session: session.change(documents=documents)


def prompts(backend: ScriptedBackend) -> dict[str, str]:
    """The system prompt of the request for each question."""
    return {str(request.messages[-1].content): str(request.messages[0].content) for request in backend.requests}


def test_the_next_request_has_a_document_and_after_its_removal_none() -> None:
    run = talk(
        (1.0, ask("Whose is it?")),
        (4.0, with_documents(MILL)),
        (5.0, ask("And now?")),
        (8.0, with_documents()),
        (9.0, ask("And then?")),
    )
    asked = prompts(run.backend)
    assert [MILL.text in asked[words] for words in ("Whose is it?", "And now?", "And then?")] == [False, True, False]
    assert "mill.txt" in asked["And now?"] and asked["And then?"] == asked["Whose is it?"]
    rest = [message.content for request in run.backend.requests for message in request.messages[1:]]
    assert not any(MILL.text in text for text in rest), "it stands in the system prompt, and nowhere else"
    assert [event.given for event in run.of(e.ConversationConfigured)] == [(), (8,), ()]
    assert not any(MILL.text in str(event) for event in run.events), "no event holds its words"


def test_a_talk_that_goes_on_has_its_documents_from_the_first_request_on() -> None:
    earlier = (ChatMessage("user", "Hello."), ChatMessage("assistant", "Hello to you."))
    run = talk((1.0, ask("Whose is it?")), documents=(MILL,), earlier=earlier)
    assert MILL.text in prompts(run.backend)["Whose is it?"]


def test_each_model_is_given_what_it_can_read() -> None:
    small = ScriptedBackend(_reply, model="small")  # type: ignore[arg-type]
    large = ScriptedBackend(_reply, model="large")  # type: ignore[arg-type]
    large.traits = replace(large.traits, document_bytes=LONG_DOCUMENT_BYTES)

    async def make(choice: BackendChoice) -> ScriptedBackend:
        return large

    run = talk(
        (1.0, ask("First?")),
        (4.0, lambda session: session.change(backend=BackendChoice("openai", "large"))),
        (6.0, ask("Second?")),
        documents=(LONG, MILL),
        backend=small,
        make_backend=make,
    )
    first, second = prompts(small)["First?"], prompts(large)["Second?"]
    assert MILL.text in first and MILL.text in second, "the short one is given whole"
    assert DOCUMENT_BYTES - 300 < first.count("grain") * 6 < DOCUMENT_BYTES and "[…]" in first
    assert second.count("grain") == 3_900 and "[…]" not in second
    given = [event.given for event in run.of(e.ConversationConfigured)]
    assert given[0] == (first.count("grain"), 8) and given[-1] == (3_900, 8)


def test_what_is_given_fits_the_context() -> None:
    for tokens in (512, 2_048, 4_096, 8_192, 100_000):
        traits = Traits().for_context(tokens)
        assert traits.document_bytes / 3 + traits.history_words / 2 * 1.4 <= tokens * 0.7 or tokens == 512
    for embedded in (SMALL, LARGER):  # whose context is 2,048; the longest answer is six times the usual one
        longest = embedded.document_bytes / 3 + embedded.history_words / 2 * 1.4 + embedded.max_tokens * 6
        assert longest < 2_048 - 100
    assert Traits().for_context(100_000).document_bytes == LONG_DOCUMENT_BYTES


def test_a_model_on_this_machine_reads_a_document_before_it_is_asked_about() -> None:
    class Priming(ScriptedBackend):
        primed: list[str] = []

        async def prime(self, request: ChatRequest) -> None:
            self.primed.append(str(request.messages[0].content))

    backend = Priming(_reply)  # type: ignore[arg-type]
    talk((1.0, with_documents(MILL)), backend=backend)
    assert len(backend.primed) == 1 and MILL.text in backend.primed[0] and not backend.requests
