"""Whole conversations with the four-stream model, small and with random weights, on the processor."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from app.audio.io.files import FileSource
from app.backend.base import ChatRequest
from app.backend.scripted import ScriptedAnswer, answer
from app.conversation import events as e
from app.conversation.frame import Frame
from app.frontend.base import FrontEndError, SetDials
from app.frontend.cascade import CascadeFrontEnd
from app.frontend.kame.engine.checkpoint import Loaded, load
from app.frontend.kame.frontend import KameFrontEnd
from app.frontend.kame.stream_engine import EngineError
from app.models.layout import read_layout
from app.session.control import ModelChoice
from app.session.session import Session
from tests.support.engines import InProcess
from tests.support.scripted import ScriptedTurn, ScriptedVoice
from tests.support.sounds import question, write
from tests.support.talks import Talk, simulate
from tests.support.tiny_kame import SMALL_LM, SMALL_MIMI, make_checkpoint

pytestmark = pytest.mark.slow
QUESTION = [ScriptedTurn(1.0, 3.0, "What is the capital of France?")]
ANSWER = "The capital of France is Paris, and it lies on the river Seine. 5,895 metres; naïve, isn't it?"
PAD, START = 3, 400


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_checkpoint(tmp_path_factory.mktemp("weights") / "kame", lm=SMALL_LM, mimi=SMALL_MIMI)


class Listening(KameFrontEnd):
    """Keeps the oracle token that the model was given at each step, as its embedding saw it. Its model's words are the
    ones that it is told, at the step at which it is told them, and else it pauses: untrained, it would talk without
    end."""

    def __init__(self, folder: Path, name: str = "kame", dials: SetDials | None = None) -> None:
        def models() -> Loaded:
            loaded = load(read_layout(folder), device="cpu", dtype=torch.float32)
            self.pieces = loaded.pieces
            loaded.lm.oracle_emb.register_forward_pre_hook(self._note)
            loaded.lm.text_linear.register_forward_hook(self._say_what_it_hears)
            return loaded

        super().__init__(InProcess(models, sampling={}), name, dials)
        self.tokens: list[int] = []

    def _note(self, _module: object, args: tuple[torch.Tensor, ...]) -> None:
        self.tokens.append(int(args[0]))

    def _say_what_it_hears(self, _module: object, _args: object, logits: torch.Tensor) -> torch.Tensor:
        token = self.tokens[-1]
        logits[..., PAD if token == START else token] += 1000.0
        return logits

    def __enter__(self) -> Listening:
        super().__enter__()
        self.tokens.clear()  # those of the warm-up
        return self

    @property
    def heard(self) -> list[int]:
        """What the model was told, without the padding."""
        return [token for token in self.tokens if token != PAD]


def _slow(text: str) -> ScriptedAnswer:
    """An answer at five words a second, late: slower than the model takes it in."""
    return answer(text, first=1.2, every=0.2)


@pytest.fixture
def frontend(folder: Path) -> Iterator[Listening]:
    torch.manual_seed(1)
    yield Listening(folder)


def test_the_model_is_fed_exactly_the_answers_tokens_however_late_and_slow(tmp_path: Path) -> None:
    frontend = Listening(make_checkpoint(tmp_path / "whole"))
    source = FileSource(write(tmp_path / "q.wav", question()))
    talk = simulate(QUESTION, lambda _: _slow(ANSWER), frontend=frontend, source=source, answer_mode="after")
    wanted = [START, *frontend.pieces.encode(ANSWER)]
    assert frontend.heard == wanted
    taken = talk.of(e.OracleTaken)
    assert [event.taken for event in taken] == list(range(1, len(wanted) + 1))
    assert taken[-1].waiting == 0
    frames = [samples for _, samples in talk.speaker.heard]
    assert all(len(samples) == 1920 for samples in frames)
    # (At the first nothing has been said yet.)
    assert len(frames) == talk.of(e.SessionEnded)[0].frames - 1
    # Its inner monologue, which here repeats the oracle, is the transcript, letter by letter.
    assert talk.transcript.turns[-1].text == ANSWER


def test_a_newer_revision_takes_over_from_the_first_of_its_words(frontend: Listening) -> None:
    def reply(request: ChatRequest) -> ScriptedAnswer:
        if request.messages[-1].content.endswith("?"):
            return answer("Paris, on the river Seine.", first=0.5, every=0.1)
        return answer("It is a city. I am sure that it is a city. It has a river.", first=0.1, every=0.1)

    talk = simulate(QUESTION, reply, frontend=frontend, interval=0.2, seconds=9)
    final = [START, *frontend.pieces.encode("Paris, on the river Seine.")]
    assert frontend.heard[-len(final) :] == final
    first = [START, *frontend.pieces.encode("It is a city. I am sure that it is a city. It has a river.")]
    assert frontend.heard[:2] == first[:2]
    # Of each revision a beginning was taken in, whole and in order, each behind a start token.
    revisions = _split(frontend.heard)
    assert len(revisions) >= 2
    assert all(first[1 : 1 + len(r)] == r or final[1 : 1 + len(r)] == r for r in revisions)
    assert talk.of(e.OracleSuperseded)


def _split(tokens: list[int]) -> list[list[int]]:
    out: list[list[int]] = []
    for token in tokens:
        if token == START:
            out.append([])
        else:
            out[-1].append(token)
    return out


def test_moshi_asks_no_backend_and_hears_no_oracle(folder: Path) -> None:
    frontend = Listening(folder, "moshi")
    talk = simulate(QUESTION, lambda _: _slow(ANSWER), frontend=frontend, seconds=6)
    assert not talk.backend.requests and not frontend.heard
    assert talk.of(e.TranscriptFinal)[0].text == QUESTION[0].words


class Babbling(Listening):
    """Talks without end, whatever it is told."""

    def _say_what_it_hears(self, _module: object, _args: object, logits: torch.Tensor) -> torch.Tensor:
        logits[..., PAD] -= 1000.0
        return logits


@pytest.mark.parametrize(("name", "typed"), [("kame", True), ("moshi", False)])
def test_once_silenced_it_is_muted_until_the_user_speaks_or_types(folder: Path, name: str, typed: bool) -> None:
    torch.manual_seed(1)
    script = [*QUESTION] if typed else [*QUESTION, ScriptedTurn(10.0, 11.5, "And what about Spain?")]

    def during(session: Session) -> None:
        loop = asyncio.get_running_loop()
        loop.call_later(6.0, session.silence)
        if typed:
            loop.call_later(11.5, session.write, "And what about Spain?")

    talk = simulate(
        script,
        lambda _: _slow(ANSWER),
        frontend=Babbling(folder, name),
        seconds=15,
        during=during,
        max_answer_seconds=0.5,  # it never ends by itself
    )
    assert talk.speaker.sounding(5.0, 6.0)
    assert [end.interrupted for end in talk.of(e.AssistantEnded) if 6.0 <= end.at <= 6.25] == [True]
    assert not talk.speaker.sounding(6.25, 11.5)
    assert not [said for said in talk.of(e.AssistantSaid) if 6.25 < said.at < 11.5]
    assert talk.speaker.sounding(11.6, 13.0)


def test_the_oracle_of_a_silenced_answer_is_dropped(frontend: Listening) -> None:
    def during(session: Session) -> None:
        asyncio.get_running_loop().call_later(5.5, session.silence)

    script = [*QUESTION, ScriptedTurn(10.0, 11.5, "And what about Spain?")]
    talk = simulate(
        script,
        lambda request: answer("Madrid." if "Spain" in request.messages[-1].content else ANSWER, every=0.3),
        frontend=frontend,
        answer_mode="after",
        during=during,
        seconds=14,
    )
    first, second = _split(frontend.heard)
    told = frontend.pieces.encode(ANSWER)
    assert first == told[: len(first)] and len(first) < len(told)
    assert second == frontend.pieces.encode("Madrid.")
    assert ANSWER.startswith(talk.said(1)) and talk.said(2) == "Madrid."


@pytest.mark.parametrize("delay", [1, 7, 20])
def test_the_forced_delay_is_heard_as_exactly_so_many_frames_of_silence(folder: Path, delay: int) -> None:
    frontend = Listening(folder, dials=SetDials(delay=delay))
    talk = simulate(QUESTION, lambda _: _slow(ANSWER), frontend=frontend, seconds=8)
    assert _silent_frames_after_the_turn(talk) == delay


def test_the_dials_turn_in_mid_conversation(folder: Path) -> None:
    twice = [*QUESTION, ScriptedTurn(8.0, 9.5, "And what about Spain?")]

    def during(session: Session) -> None:
        session.change(model=ModelChoice(delay=5, lead=3))

    talk = simulate(twice, lambda _: answer(""), frontend=Listening(folder), seconds=14, during=during)
    assert _silent_frames_after_the_turn(talk) == 5
    [changed] = talk.of(e.DialsChanged)
    assert (changed.delay, changed.lead) == (5, 3)


def test_with_a_lead_the_model_hears_the_user_so_many_frames_later(folder: Path) -> None:
    sound = np.random.default_rng(0).normal(0, 0.3, (12, 1920)).astype(np.float32)

    def heard(frames: np.ndarray, lead: int) -> list[tuple[int, ...]]:
        with Listening(folder, dials=SetDials(lead=lead)) as frontend:
            for index, samples in enumerate(frames):
                frontend.step(Frame(index, samples), [])
            return [column.user for column in frontend._stream.memory.columns]

    late = np.concatenate([np.zeros((4, 1920), np.float32), sound[:8]])
    assert heard(sound, 4) == heard(late, 0)
    assert heard(sound, 4) != heard(sound, 0)


def _silent_frames_after_the_turn(talk: Talk) -> int:
    ended = talk.of(e.UserEnded)[0].at
    levels = [event.assistant_dbfs for event in talk.of(e.LevelMeasured) if event.at >= ended - 1e-6]
    return next(count for count, level in enumerate(levels) if level > -119)


def test_a_long_conversation_rolls_over_at_a_pause_without_a_gap(tmp_path: Path) -> None:
    small = make_checkpoint(tmp_path / "small", lm={**SMALL_LM, "context": 200}, mimi=SMALL_MIMI)
    script = [ScriptedTurn(10.0 * n + 2, 10.0 * n + 4, f"This is question number {n}, isn't it?") for n in range(7)]
    frontend = Listening(small)
    sizes: list[int] = []
    talk = simulate(
        script,
        lambda r: answer(f"Yes, {r.messages[-1].content}"),
        seconds=70,
        frontend=frontend,
        during=lambda session: session.add_listener(lambda event: _note_size(event, sizes)),
    )
    assert talk.of(e.SessionEnded)[0].frames >= 875
    for begun, over in zip(talk.of(e.AssistantStarted), talk.of(e.AssistantEnded), strict=True):
        # While an answer sounds, a frame goes out for each frame that comes in.
        sounded = [at for at, samples in talk.speaker.heard if begun.at < at <= over.at]
        assert len(sounded) >= round((over.at - begun.at) / 0.08) - 1
    anew = talk.of(e.ContextRestarted)
    assert len(anew) >= 3 and all(event.told > 0 for event in anew)
    assert max(event.frames for event in talk.of(e.ContextMeasured)) < 200
    starts, ends = talk.of(e.UserStarted), talk.of(e.UserEnded)
    for event in anew:
        assert not any(s.at <= event.at - 0.5 <= n.at for s, n in zip(starts, ends, strict=True))
    asked = [turn.text for turn in talk.transcript.turns if turn.speaker == "user"]
    assert asked == [turn.words for turn in script]
    late = sizes[len(sizes) // 2 :]
    assert max(late) - min(late) < 40_000_000


def _note_size(event: e.Event, sizes: list[int]) -> None:
    if isinstance(event, e.ContextMeasured):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                sizes.append(int(line.split()[1]) * 1024)


class _OutOfMemory(Listening):
    """Its card's memory runs out at a step."""

    def __init__(self, folder: Path, at: int) -> None:
        super().__init__(folder)
        self._at = at

    def step(self, frame: Any, inputs: Any) -> Any:
        if frame.index == self._at:
            assert self._stream is not None

            def fail(*_: object) -> None:
                raise EngineError("memory", "CUDA out of memory")

            self._stream.engine._frame = fail  # type: ignore[assignment]
        return super().step(frame, inputs)


@pytest.mark.parametrize("at", [5, 30, 45])
def test_out_of_memory_in_mid_conversation_continues_with_another_voice(folder: Path, at: int) -> None:
    talk = simulate(
        QUESTION,
        lambda _: answer("The capital of France is Paris."),
        frontend=_OutOfMemory(folder, at),
        fallback=lambda: CascadeFrontEnd(ScriptedVoice()),
        seconds=15,
    )
    [failure] = talk.of(e.Failure)
    assert failure.source == "frontend" and not failure.fatal
    assert "memory ran out" in failure.sentence and "built-in voice" in failure.sentence
    [changed] = talk.of(e.FrontEndChanged)
    assert changed.frontend == "cascade"
    said = [event.text for event in talk.of(e.AssistantSaid) if event.at > changed.at]
    assert " ".join(said).endswith("The capital of France is Paris.")
    assert [turn.text for turn in talk.transcript.turns if turn.speaker == "user"] == [QUESTION[0].words]


def test_out_of_memory_while_loading_continues_with_another_voice(folder: Path) -> None:
    def models() -> Loaded:
        raise EngineError("memory", "CUDA out of memory. Tried to allocate 15 GiB")

    talk = simulate(
        QUESTION,
        lambda _: answer("Paris."),
        frontend=KameFrontEnd(InProcess(models)),
        fallback=lambda: CascadeFrontEnd(ScriptedVoice()),
    )
    [failure] = talk.of(e.Failure)
    assert "memory ran out while KAME was loading" in failure.sentence and "int8" in failure.sentence
    assert talk.of(e.SessionStarted)[0].frontend == "cascade"
    assert talk.said(1) == "Paris."


def test_without_another_voice_the_loss_ends_the_conversation_with_a_message(folder: Path) -> None:
    def no_voice() -> CascadeFrontEnd:
        raise FrontEndError("The voice's file is missing.")

    talk = simulate(
        QUESTION, lambda _: answer("Paris."), frontend=_OutOfMemory(folder, 30), fallback=no_voice, seconds=6
    )
    failures = talk.of(e.Failure)
    assert failures[-1].fatal and "The voice's file is missing." in failures[-1].sentence
    assert talk.of(e.SessionEnded)
