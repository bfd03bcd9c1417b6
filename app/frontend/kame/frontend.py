"""The front-ends `kame` and `moshi`: a model that hears and speaks by itself, in the talk's terms.

The model decides when to speak; the floor's commands tell which turn it answers, and silence it when the user
has interrupted. Keeps the two dials, the oracle's revisions, and the model's memory (a fresh stream, at a
pause, before it is full). Knows nothing of back-ends, devices or clocks.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence

import numpy as np
import torch
from safetensors import SafetensorError

from app.conversation import turn as floor
from app.conversation.frame import FRAME_SAMPLES, Frame, silence
from app.conversation.stability import Revision
from app.frontend.base import (
    ContextGauge,
    FrontEndError,
    FrontEndInput,
    FrontEndStep,
    Mark,
    OracleAsked,
    OracleDone,
    OraclePosition,
    OracleWords,
    Said,
    SetDials,
)
from app.frontend.kame.checkpoint import Loaded
from app.frontend.kame.engine import Column, Engine
from app.frontend.kame.oracle_text import InnerText, OracleTokenizer
from app.frontend.revisions import Revisions
from app.models.errors import ModelError
from app.platform import single_instance

LABELS = {"kame": "KAME", "moshi": "Moshi"}
"""What the front-ends of this kind are called in sentences."""

log = logging.getLogger(__name__)

_CARD = threading.Lock()
"""Held by the one front-end that has models on the card: two would share its memory, and moshi's graph flag."""

END_FRAMES = 12
"""Frames without a word (1 s) after which an answer is over, if it is quiet too."""
LOUD = 0.01
"""RMS above which a frame sounds, about -40 dBFS."""
LINGER_FRAMES = 25
"""Frames (2 s) that a model is given to begin an answer before nothing more is expected of it."""
ROLL_OVER_FROM = 0.8
"""Share of the context behind which the next pause is used to begin a fresh stream."""
PAUSE_FRAMES = 5
PRIME_FRAMES = 125
"""Newest frames of the talk (10 s) that a fresh stream is told."""
PRIME_STEPS = 4
"""Steps along the talk for each frame of sound while a fresh stream is told; one of them is the new frame. On a
card as many as fit into `PRIME_SECONDS` of the 80 ms, by what a step was measured to take; with less than two
there is no catching up, and a fresh stream is told nothing."""
PRIME_SECONDS = 0.06
TELLING_FRAMES = 12
"""Frames of sound (1 s) that telling a fresh stream may take: a user who speaks meanwhile waits no longer."""
MOST_PRIME_STEPS = 16
FADE_SAMPLES = 240


class KameFrontEnd:
    """A four-stream model between the user's sound and its own. See the module's docstring.

    `load` gives the models; it runs when the front-end is entered. With `hears_oracle` off it is plain Moshi.
    `alone`: it shares the card with no other of its kind, and waits until one that is there has left. `needs`: see
    `FrontEnd`.
    """

    def __init__(
        self,
        load: Callable[[], Loaded],
        *,
        name: str = "kame",
        hears_oracle: bool = True,
        dials: SetDials | None = None,
        sampling: dict | None = None,
        prime_frames: int = PRIME_FRAMES,
        prime_steps: int | None = None,
        alone: bool = False,
        needs: str = "",
    ) -> None:
        self.name = name
        self.needs = needs
        self.hears_oracle = hears_oracle
        self.voice = None
        self._load = load
        self._sampling = sampling
        self._alone = alone
        self._left = True
        self._engine: Engine | None = None
        self._revisions = Revisions()
        self._holding = False  # the user may only be saying "okay": newer turns' words wait
        self._held = 0  # the revision that waits
        self._fresh = 0
        self._dials = dials or SetDials()
        self._late: deque[np.ndarray] = deque()
        self._revision = 0  # the one that is fed
        self._void = 0  # the order up to which revisions are refused
        self._tokens: OracleTokenizer | None = None
        self._fed = 0  # characters of the revision's text that the tokenizer was given
        self._asked_turn = 0
        self._floor_turn = 0
        self._answering: tuple[int, int] | None = None  # turn and revision that the sound belongs to
        self._user_holds = False
        self._silenced = False
        self._since_floor = 1 << 30
        self._quiet = 0
        self._unspoken = 0
        self._idle_for = LINGER_FRAMES
        self._was_forced = False
        self._memory: deque[Column] = deque(maxlen=max(1, prime_frames))
        self._prime_frames, self._prime_steps = prime_frames, prime_steps or PRIME_STEPS
        self._fixed_prime_steps = prime_steps is not None
        self._to_tell: deque[Column] | None = None
        self._told = 0

    # -- the protocol ------------------------------------------------------------------------------

    def __enter__(self) -> KameFrontEnd:
        if self._alone:
            _CARD.acquire()  # until another one, that may still be loading for nobody, has left the card
        self._left, sentence = False, ""
        try:
            self._open()
        except (ModelError, FrontEndError) as error:
            sentence = str(error)
        except torch.OutOfMemoryError:
            sentence = (
                f"The graphics card's memory ran out while {self.label} was loading. Close other programs that use "
                "it, or choose int8 or int4, or a shorter memory, in the settings."
            )
        except (RuntimeError, ValueError, OSError, SafetensorError) as error:
            log.exception("the models could not be started")
            sentence = (
                f"{self.label} could not be started here ({type(error).__name__}: {_first_line(error)}). The talk "
                f"goes on with the embedded voice; “{single_instance.command()} doctor” may tell more."
            )
        except BaseException:
            self._leave()
            raise
        if sentence:
            # Behind the error, whose traceback held the models: now their memory can be given back.
            self._leave()
            raise FrontEndError(sentence)
        return self

    def _open(self) -> None:
        loaded = self._load()
        self._pieces = loaded.pieces
        lm = loaded.lm
        self._wordless = frozenset({lm.text_padding_token_id, lm.end_of_text_padding_id})
        self._inner = InnerText(loaded.pieces, silent=self._wordless)
        sampling = {**_generation(loaded.generation), **(self._sampling or {})}
        engine = Engine(lm, loaded.mimi, sampling=sampling)
        self._engine = engine.__enter__()
        if engine.step_seconds and not self._fixed_prime_steps:
            self._prime_steps = min(MOST_PRIME_STEPS, int(PRIME_SECONDS / engine.step_seconds))

    def __exit__(self, *exc: object) -> None:
        self._leave()

    def _leave(self) -> None:
        """Lets the models and the card go; safe to call twice."""
        if self._left:
            return
        self._left = True
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.__exit__(None, None, None)
        del engine
        _free()
        if self._alone:
            _CARD.release()

    @property
    def label(self) -> str:
        """Its name in a sentence."""
        return LABELS.get(self.name, self.name)

    @property
    def speaking(self) -> bool:
        """An answer has begun to sound and is not over."""
        return self._answering is not None

    @property
    def busy(self) -> bool:
        """Never: all work is done within the step."""
        return False

    @property
    def idle(self) -> bool:
        """Nothing sounds, no oracle waits, and the model has had its time to begin."""
        return self._answering is None and self._idle_for >= LINGER_FRAMES

    def ready(self, heard: str) -> bool:
        """Always: it begins to speak by itself."""
        return True

    def unheard(self, samples: int, words: int) -> None:
        """What was flushed is gone: the model has said it, whoever heard it."""

    def step(self, frame: Frame, inputs: Sequence[FrontEndInput]) -> FrontEndStep:
        """See `FrontEnd.step`."""
        engine = self._engine
        assert engine is not None
        marks: list[Mark] = []
        flush = False
        try:
            for item in inputs:
                flush = self._take(item, marks) or flush
            heard = self._hear_late(frame.samples)
            self._begin_anew_if_due(engine)
            if self._to_tell is not None:
                return self._tell(engine, heard, marks, flush)
            forced = self._forced()
            engine.force_silence() if forced else engine.release()
            before = len(engine.gen.oracle_rest)
            result = engine.step(heard)
        except torch.OutOfMemoryError as error:
            raise FrontEndError(
                f"The graphics card's memory ran out in mid-talk, so {self.label} can't go on. The talk goes on "
                "with the embedded voice; close other programs that use the card, or choose int8 or int4, or a "
                "shorter memory."
            ) from error
        except RuntimeError as error:
            log.exception("a step failed")
            raise FrontEndError(
                f"The graphics card stopped working for {self.label} ({_first_line(error)}). The talk goes on with the "
                "embedded voice; begin a new talk to try again."
            ) from error
        self._memory.append(result.column)
        self._since_floor += 1
        samples = self._mute(result.samples, forced)
        said = self._follow_words(result.column.text, samples, marks)
        position = None
        if before:
            self._idle_for = 0
            position = OraclePosition(self._revision, engine.gen.oracle_taken, len(engine.gen.oracle_rest))
        gauge = ContextGauge(min(engine.steps, engine.context), engine.context)
        return FrontEndStep(samples, said, tuple(marks), flush, oracle=position, context=gauge)

    # -- what arrives ------------------------------------------------------------------------------

    def _take(self, item: FrontEndInput, marks: list[Mark]) -> bool:
        """Takes one input in; returns whether what was given out must be thrown away."""
        match item:
            case OracleAsked():
                self._asked_turn = max(self._asked_turn, item.turn)
                revision = self._revisions.ask(item, in_use=self._revision)
                if revision.text:
                    self._take_words(revision)
            case OracleWords():
                if (grown := self._revisions.add(item)) is not None:
                    self._take_words(grown)
            case OracleDone(number):
                if number == self._revision and self._tokens is not None:
                    self._push(self._tokens.finish(), reset=False)
            case SetDials():
                self._dials = item
            case floor.TakeFloor(turn):
                self._floor_turn = max(self._floor_turn, turn)
                self._user_holds = self._silenced = False
                self._since_floor = self._idle_for = 0
                self._take_up_held()
                if self._to_tell is not None:
                    # A question waits for its answer: only what was heard since is caught up with.
                    while len(self._to_tell) > self._fresh:
                        self._to_tell.popleft()
            case floor.Hold():
                self._user_holds = True  # the model hears it too, and may stop by itself
                self._holding = True
            case floor.GoOn():
                self._user_holds = self._holding = False
                self._held = 0
            case floor.Interrupt(user_speaks):
                self._user_holds = user_speaks
                self._void_answer()
                stopped = self._stop_speaking(marks)
                self._silenced = stopped and user_speaks
                self._take_up_held()
                return stopped
            case floor.Yield():
                self._user_holds = True
                stopped = self._stop_speaking(marks)
                self._silenced = self._silenced or stopped
                self._take_up_held()
                return stopped
        return False

    def _take_words(self, revision: Revision) -> None:
        if self._holding and self._answering is not None and revision.turn > self._answering[0]:
            self._held = revision.number
        else:
            self._feed(revision)

    def _feed(self, revision: Revision) -> None:
        """Feeds the model what it has not been fed of `revision`, from its beginning if it was not the one in use."""
        in_use = self._revisions.get(self._revision)
        superseded = in_use is not None and revision.order < in_use.order
        if not self.hears_oracle or superseded or revision.order <= self._void:
            return
        reset = self._tokens is None or revision.number != self._revision
        if reset or self._tokens is None:
            self._revision, self._tokens, self._fed = revision.number, OracleTokenizer(self._pieces), 0
        text, self._fed = revision.text[self._fed :], len(revision.text)
        self._push(self._tokens.push(text, whole_words=True), reset=reset)

    def _take_up_held(self) -> None:
        """It was an interruption: what the back-end has said to it meanwhile counts."""
        held, self._holding, self._held = self._revisions.get(self._held), False, 0
        if held is not None:
            self._feed(held)

    def _push(self, ids: list[int], *, reset: bool) -> None:
        if self._engine is not None and (ids or reset):
            self._engine.gen.push_oracle(ids, reset=reset)

    def _void_answer(self) -> None:
        """The answer to a turn whose floor was given is not wanted any more; that to the turn now spoken is."""
        self._void = max([self._void, *(r.order for r in self._revisions if r.turn <= self._floor_turn)])
        fed = self._revisions.get(self._revision)
        if fed is None or fed.order <= self._void:
            self._tokens = None
            if self._engine is not None:
                self._engine.gen.clear_oracle()

    def _stop_speaking(self, marks: list[Mark]) -> bool:
        if self._answering is None:
            return False
        marks.append(Mark("interrupted", *self._answering))
        self._answering = None
        self._inner.flush()  # a word that was cut off was not said
        return True

    # -- the dials ---------------------------------------------------------------------------------

    def _hear_late(self, samples: np.ndarray) -> np.ndarray:
        """The frame of `lead` frames ago; a shorter lead skips what it jumps over."""
        self._late.append(samples)
        if len(self._late) <= self._dials.lead:
            return silence()
        while len(self._late) > self._dials.lead + 1:
            self._late.popleft()
        return self._late.popleft()

    def _forced(self) -> bool:
        """Whether the model must be silent now: it was interrupted, or its time to answer has not come."""
        waits = self._dials.delay > 0 and self._answering is None
        return self._silenced or (waits and (self._user_holds or self._since_floor < self._dials.delay))

    def _mute(self, samples: np.ndarray, forced: bool) -> np.ndarray:
        """Silence where it is forced, with a fade into it; else the samples, within what devices take."""
        was, self._was_forced = self._was_forced, forced
        if not forced:
            return np.clip(samples, -1.0, 1.0)
        if was:
            return np.zeros(FRAME_SAMPLES, np.float32)
        out = np.zeros(FRAME_SAMPLES, np.float32)
        if self._since_floor > self._dials.delay:  # it comes out of sounding, not out of another silence
            out[:FADE_SAMPLES] = samples[:FADE_SAMPLES] * np.linspace(1, 0, FADE_SAMPLES, dtype=np.float32)
        return out

    # -- words -------------------------------------------------------------------------------------

    def _follow_words(self, token: int, samples: np.ndarray, marks: list[Mark]) -> tuple[Said, ...]:
        if token >= self._pieces.vocab_size():
            token = min(self._wordless)  # the model's vocabulary may be rounded up
        text = self._inner.push(token)
        self._unspoken = self._unspoken + 1 if token in self._wordless else 0
        loud = float(np.sqrt(np.mean(samples * samples))) > LOUD
        self._quiet = 0 if loud else self._quiet + 1
        self._idle_for = 0 if self._unspoken == 0 else self._idle_for + 1
        said: tuple[Said, ...] = ()
        if text:
            turn = max(self._asked_turn, self._floor_turn)
            # A newer request is no newer answer: the turn changes when the floor is given for it.
            if self._answering is None or self._floor_turn > self._answering[0]:
                if self._answering is not None:
                    marks.append(Mark("ended", *self._answering))
                self._answering = (turn, self._revision)
                marks.append(Mark("started", turn, self._revision))
            glued = not text.startswith(" ")
            said = (Said(text.strip(), FRAME_SAMPLES, self._answering[0], self._revision, glued),)
        elif self._answering is not None and self._seems_over:
            marks.append(Mark("ended", *self._answering))
            self._answering = None
        return said

    @property
    def _seems_over(self) -> bool:
        """No word for a second and no sound either, or no word for three."""
        return self._unspoken >= END_FRAMES and (self._quiet >= END_FRAMES or self._unspoken >= 3 * END_FRAMES)

    # -- memory ------------------------------------------------------------------------------------

    def _begin_anew_if_due(self, engine: Engine) -> None:
        if self._to_tell is not None or engine.steps < ROLL_OVER_FROM * engine.context:
            return
        pause = (
            self._answering is None
            and not self._user_holds
            and not engine.gen.oracle_rest
            and self._unspoken >= PAUSE_FRAMES
        )
        if not pause and not engine.full:
            return
        rest = [token for token in engine.gen.oracle_rest if token != engine.lm.text_initial_token_id]
        engine.begin_again()
        if rest:
            engine.gen.push_oracle(rest, reset=True)
        # So much as can be told while about a second of sound comes in.
        told = min(self._prime_frames, len(self._memory), (self._prime_steps - 1) * TELLING_FRAMES)
        self._to_tell = deque(list(self._memory)[len(self._memory) - told :])
        self._told, self._fresh = told, 0

    def _tell(self, engine: Engine, samples: np.ndarray, marks: list[Mark], flush: bool) -> FrontEndStep:
        """One frame of a fresh stream's beginning: it hears the user on, and is told the talk so far."""
        assert self._to_tell is not None
        user = engine.hear(samples)
        now = Column(engine.lm.text_padding_token_id, engine.silence, user, engine.lm.text_padding_token_id)
        self._to_tell.append(now)
        self._fresh += 1
        self._memory.append(now)
        for _ in range(max(1, self._prime_steps)):
            if self._to_tell:
                engine.follow(self._to_tell.popleft())
                self._fresh = min(self._fresh, len(self._to_tell))
        self._since_floor += 1
        self._idle_for += 1
        over = not self._to_tell
        if over:
            self._to_tell = None
        gauge = ContextGauge(engine.steps, engine.context, over, self._told if over else 0)
        return FrontEndStep(silence(), (), tuple(marks), flush, context=gauge)


def _generation(config: dict) -> dict:
    """The settings of a checkpoint's `lm_gen_config` that the generator has."""
    known = ("use_sampling", "temp", "temp_text", "top_k", "top_k_text")
    return {key: config[key] for key in known if key in config}


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or ["no more is known"])[0].rstrip(".")


def _free() -> None:
    """Gives back what the card holds for nobody."""
    gc.collect()
    if torch.cuda.is_available():
        with contextlib.suppress(RuntimeError):  # a card that has failed
            torch.cuda.empty_cache()
