"""Answers with code, tables and markers, heard and shown; and documents, as the models are given them."""

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from app.backend.base import ChatRequest, Traits
from app.backend.embedded_models import LARGER, SMALL
from app.backend.scripted import ScriptedAnswer, ScriptedBackend, answer
from app.conversation import events as e
from app.conversation.languages import CODES, language
from app.conversation.prompt import DOCUMENT_BYTES, LONG_DOCUMENT_BYTES, ChatMessage, Document
from app.session.control import BackendChoice
from app.session.session import Session
from tests.session.test_swaps import choose
from tests.support.examples import examples
from tests.support.scripted import ScriptedTranscriber, ScriptedTurn
from tests.support.talks import Talk, at, calling, making, simulate

QUESTION = "Write me a greeting in Python."
CODE = '```python\ndef greet(name):\n    print(f"Hello, {name}!")\n\n\nfor name in names:\n    greet(name)\n```'
TABLE = "| name | age |\n|:-----|----:|\n| Ann  | 12  |\n| Bob  | 30  |"
ANSWER = (
    f"Here is **a function** that greets:\n\n{CODE}\n\nCall it with *a name*, see [the docs](https://docs.python.org)."
)
SAID = "Here is a function that greets: The code is on the screen. Call it with a name, see the docs."


def pieces(text: str, size: int = 3) -> tuple[str, ...]:
    return tuple(text[place : place + size] for place in range(0, len(text), size))


def ask(answer: str, *, every: float = 0.01, size: int = 3, words: str = QUESTION, **more: object) -> Talk:
    def reply(request: ChatRequest) -> ScriptedAnswer:
        return ScriptedAnswer(pieces(answer, size), 0.1, every)

    return simulate([ScriptedTurn(1.0, 3.0, words)], reply, answer_mode="after", **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [1, 3, 7, 400])
def test_code_is_announced_and_not_read_out_and_the_transcript_has_it(size: int) -> None:
    talk = ask(ANSWER, size=size)
    assert talk.said(1) == SAID
    assert not any("greet(" in text or "```" in text for text in talk.voice.spoken)
    answer = talk.transcript.turns[-1]
    assert answer.written == ANSWER and answer.text == SAID
    assert not answer.interrupted


@pytest.mark.parametrize("code", CODES)
def test_it_is_said_in_the_conversations_language(code: str) -> None:
    script = [ScriptedTurn(1.0, 3.0, QUESTION)]
    talk = ask(f"{CODE}\n\n{TABLE}", transcriber=ScriptedTranscriber(script, language=code))
    told = language(code).on_screen
    assert talk.said(1) == f"{told['code']} {told['table']}"
    assert talk.transcript.turns[-1].written == f"{CODE}\n\n{TABLE}"


def test_the_voice_does_not_wait_until_long_code_has_come() -> None:
    code = "```python\n" + "".join(f"value_{number} = compute({number})\n" for number in range(80)) + "```"
    talk = ask(f"{code}\n\nThat is all.", every=0.02, seconds=40)
    announced = next(event for event in talk.of(e.AssistantSaid) if event.text == "screen.")
    [ended] = [event for event in talk.of(e.OracleEnded) if event.reason == "complete"]
    assert announced.at < ended.at - 5
    assert talk.said(1) == "The code is on the screen. That is all."
    assert talk.transcript.turns[-1].written == f"{code}\n\nThat is all."
    assert [end.interrupted for end in talk.of(e.AssistantEnded)] == [False]


def test_what_was_cut_short_is_not_shown_as_said_but_announced_code_is() -> None:
    late = f"{ANSWER} {'It is a very fine thing to know how to greet people. ' * 5}\n\n```sh\nrm -rf everything\n```"
    script = [ScriptedTurn(1.0, 3.0, QUESTION), ScriptedTurn(10.0, 11.0, "Stop, that is enough.")]

    def reply(request: ChatRequest) -> ScriptedAnswer:
        again = len(request.messages) > 2
        return ScriptedAnswer(pieces("All right." if again else late), 0.1, 0.001)

    talk = simulate(script, reply, answer_mode="after", seconds=20)
    answer = next(turn for turn in talk.transcript.turns if turn.speaker == "assistant")
    assert answer.interrupted
    assert answer.written.startswith(f"Here is **a function** that greets:\n\n{CODE}\n\nCall it with *a name*")
    assert "rm -rf" not in answer.written and len(answer.written) < len(late) - 100
    told = talk.backend.requests[-1].messages[2].content
    assert told.startswith(f"Here is **a function** that greets:\n\n{CODE}\n\nCall it") and "rm -rf" not in told


def test_the_model_sees_its_own_code_again_and_may_write_more_where_code_is_asked_for() -> None:
    script = [ScriptedTurn(1.0, 3.0, QUESTION), ScriptedTurn(15.0, 17.0, "How are you?")]

    def reply(request: ChatRequest) -> ScriptedAnswer:
        return ScriptedAnswer(pieces(ANSWER if "greeting" in request.messages[-1].content else "I am well."), 0.1)

    talk = simulate(script, reply, answer_mode="after", seconds=25)
    first, last = talk.backend.requests[0], talk.backend.requests[-1]
    assert CODE in last.messages[2].content and "on the screen" not in last.messages[2].content
    assert first.max_tokens >= 4 * last.max_tokens
    assert talk.transcript.turns[-1].written == "I am well."


def test_a_model_that_stops_after_a_few_words_does_not_stop_within_code() -> None:
    answer = "Here it is.\n\n```sh\n# First. Then.\necho one two three four five six.\n```\n\nRun it. Not said."
    talk = ask(answer, enough_words=6, size=400, every=0.0)
    assert talk.said(1).startswith("Here it is. The code is on the screen. Run it.")
    assert "echo one two three four five six." in talk.transcript.turns[-1].written


def test_an_answer_that_corrects_another_has_both_as_far_as_they_were_heard() -> None:
    first = "The **old** answer is that Paris is the capital of Italy, in the south of Europe. More follows here."
    second = f"Rome is **the capital** of Italy:\n\n{TABLE}\n\nIt is *old*."
    two = ScriptedBackend(lambda request: ScriptedAnswer(pieces(second), 0.1, 0.001), model="two")
    talk = ask(first, make_backend=making(lambda _: two), during=at(5.5, choose("two")), seconds=30)
    assert [event.how for event in talk.of(e.AssistantCorrected)] == ["corrected"]
    written = talk.transcript.turns[-1].written
    assert written.startswith("The **old** answer is that Paris")
    assert written.endswith(f"{second}") and written.count("Rome") == 1
    assert "rather" in written and "More follows" not in written


def test_whatever_is_written_the_voice_says_no_marker_and_no_code() -> None:
    dice = random.Random(3)
    parts = [
        "It is **so**.",
        CODE,
        TABLE,
        "- one\n- two",
        "> a quote",
        "# A heading",
        "Use `print`.",
        "1. first\n2. next",
    ]
    for _ in range(examples(12)):
        text = "\n\n".join(dice.choice(parts) for _ in range(4))
        talk = ask(text, size=dice.randint(1, 9), seconds=40)
        said = talk.said(1)
        assert not set("*`|#>_") & set(said) and "greet" not in said and "Ann" not in said
        assert talk.transcript.turns[-1].written == text


MILL = Document("mill.txt", "The mill by the river belongs to Ada.")
LONG = Document("long.txt", "grain " * 3_900)


def _reply(request: ChatRequest) -> object:
    return answer("It belongs to somebody.")


def talk(*steps: tuple[float, Callable[[Session], None]], **wanted: object) -> Talk:
    return simulate([], _reply, seconds=14.0, during=calling(*steps), **wanted)  # type: ignore[arg-type]


def ask_about(text: str) -> Callable[[Session], None]:
    return lambda session: session.write(text)


def with_documents(*documents: Document) -> Callable[[Session], None]:
    return lambda session: session.change(documents=documents)


def prompts(backend: ScriptedBackend) -> dict[str, str]:
    """The system prompt of the request for each question."""
    return {str(request.messages[-1].content): str(request.messages[0].content) for request in backend.requests}


def test_the_next_request_has_a_document_and_after_its_removal_none() -> None:
    run = talk(
        (1.0, ask_about("Whose is it?")),
        (4.0, with_documents(MILL)),
        (5.0, ask_about("And now?")),
        (8.0, with_documents()),
        (9.0, ask_about("And then?")),
    )
    asked = prompts(run.backend)
    assert [MILL.text in asked[words] for words in ("Whose is it?", "And now?", "And then?")] == [False, True, False]
    assert "mill.txt" in asked["And now?"] and asked["And then?"] == asked["Whose is it?"]
    rest = [message.content for request in run.backend.requests for message in request.messages[1:]]
    assert not any(MILL.text in text for text in rest), "it stands in the system prompt, and nowhere else"
    assert [event.given for event in run.of(e.ConversationConfigured)] == [(), (8,), ()]
    assert not any(MILL.text in str(event) for event in run.events), "no event holds its words"


def test_a_conversation_that_continues_has_its_documents_from_the_first_request_on() -> None:
    earlier = (ChatMessage("user", "Hello."), ChatMessage("assistant", "Hello to you."))
    run = talk((1.0, ask_about("Whose is it?")), documents=(MILL,), earlier=earlier)
    assert MILL.text in prompts(run.backend)["Whose is it?"]


def test_each_model_is_given_what_it_can_read() -> None:
    small = ScriptedBackend(_reply, model="small")  # type: ignore[arg-type]
    large = ScriptedBackend(_reply, model="large")  # type: ignore[arg-type]
    large.traits = replace(large.traits, document_bytes=LONG_DOCUMENT_BYTES)
    run = talk(
        (1.0, ask_about("First?")),
        (4.0, lambda session: session.change(backend=BackendChoice("openai", "large"))),
        (6.0, ask_about("Second?")),
        documents=(LONG, MILL),
        backend=small,
        make_backend=making(lambda _: large),
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
