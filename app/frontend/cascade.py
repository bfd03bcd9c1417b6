"""The CPU front-end, which reads the oracle aloud and can switch to a better revision mid-answer.

What it says next is decided in `app.conversation.speaking.what_to_say`. In the answer mode `after`, it waits for an
answer to the complete turn. In the mode `thinking`, it starts as soon as the turn has ended and a revision passes the
gate, or with the words that restate the question, and fills a longer wait with a short opening. It switches to a better
revision at the end of a clause, or at the end of a word if the user has chosen another back-end. Clauses are
synthesised in advance, the first one while the user is still speaking. All times are taken from the frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import CancelledError

import numpy as np

from app.conversation.events import AnswerMode, Event, SpeechDecided
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE, Frame
from app.conversation.languages import ENGLISH
from app.conversation.speaking.clauses import spoken
from app.conversation.speaking.revisions import (
    OracleAsked,
    OracleCompleted,
    OracleDone,
    OracleInput,
    OracleThinks,
    OracleWords,
    Revisions,
)
from app.conversation.speaking.spoken_answer import ClauseChoice, Decision, Moment, Said, SpokenAnswer
from app.conversation.speaking.what_to_say import cutting_clause, decide, next_to_prepare, whole_clause
from app.conversation.turns import tracker as floor
from app.frontend.base import (
    CorrectionKind,
    FrontEndInput,
    FrontEndStep,
    Mark,
    MarkKind,
    SetAnswerMode,
    SetOpenings,
    SetVoice,
)
from app.frontend.clause_playback import ClausePlayback, ClauseSynthesis, Openings, PlayingClause
from app.tts.base import Voice, VoiceError

WORTH_CUTTING = SAMPLE_RATE
"""A clause with fewer samples left than this (1 s) is always played to its end."""


class CascadeFrontEnd:
    """A front-end that speaks with a TTS voice.

    - `voice`: the voice.
    - `answer_mode`: see the module docstring.
    - `openings`: whether to fill a wait with an opening.
    - `seed`: determines the order of the openings.
    - `code`: the session's initial language.
    """

    name = "cascade"
    frame_samples = FRAME_SAMPLES  # any length will do
    hears_oracle = True
    loading = ""

    def __init__(
        self,
        voice: Voice,
        answer_mode: AnswerMode = "thinking",
        *,
        openings: bool = True,
        seed: int = 0,
        code: str = ENGLISH,
    ) -> None:
        self._uses_openings = openings
        self._openings = Openings(voice, seed, code)
        self._code = code
        self._revisions = Revisions()
        self._answer_mode: AnswerMode = answer_mode
        self._ahead = ClauseSynthesis(voice)
        self._playback = ClausePlayback()
        self._answer = SpokenAnswer(floor.TakeFloor(0))  # of the current or last answered turn
        self._at = self._frame_seconds = 0.0  # when the current step's frame ends, and how long it is
        self._waits_since = 0.0  # when the user started waiting for the answer
        self._has_floor = False
        self._unanswered = False  # the front-end had the floor, but no back-end had an answer
        self._held = False
        self._decided: Decision | None = None
        self._marks: list[Mark] = []
        self._events: list[Event] = []
        self._problem = self._notice = ""

    # -- the protocol ------------------------------------------------------------------------------

    def __enter__(self) -> CascadeFrontEnd:
        self._ahead.voice.__enter__()
        spoken("", self._code)  # compiles the rules of the language, which would hold up the first answer
        return self

    def __exit__(self, *exc: object) -> None:
        self._ahead.voice.__exit__(*exc)

    @property
    def voice(self) -> Voice:
        return self._ahead.voice

    @property
    def speaking(self) -> bool:
        return self._has_floor and self._answer.started

    @property
    def busy(self) -> bool:
        return self._openings.preparing or self._ahead.busy or self._playback.growing

    @property
    def idle(self) -> bool:
        return not self._has_floor

    @property
    def thinks_along(self) -> bool:
        return self._answer_mode == "thinking"

    def step(self, frame: Frame, inputs: Sequence[FrontEndInput]) -> FrontEndStep:
        self._marks, self._events, self._problem, self._notice = [], [], "", ""
        self._at, self._frame_seconds = frame.at, frame.seconds
        flush = False
        for item in inputs:
            flush = self._receive(item) or flush
        samples = np.zeros(frame.length, np.float32)
        said = self._speak(samples) if self._has_floor and not self._held else []
        self._synthesise_ahead()
        if self._fills_waits and not self._has_floor and not self.busy:
            self._openings.prepare()
        return FrontEndStep(
            samples,
            tuple(said),
            tuple(self._marks),
            flush,
            self._problem,
            self._notice,
            events=tuple(self._events),
        )

    def prepare(self, inputs: Sequence[OracleInput]) -> None:
        for item in inputs:
            self._receive(item)
        self._synthesise_ahead()

    def unheard(self, samples: int, words: int) -> None:
        """Rewinds by `samples` samples and `words` words, which were never played, so that they are spoken again."""
        if words:
            del self._answer.given[-words:]
        self._playback.take_back(samples)

    # -- inputs ------------------------------------------------------------------------------------

    def _receive(self, item: FrontEndInput) -> bool:
        """Handles one input. Returns whether unplayed output must be discarded."""
        match item:
            case OracleAsked() | OracleWords() | OracleCompleted() | OracleThinks() | OracleDone():
                self._revisions.update(item, self._at, in_use=self._answer.source)
                if isinstance(item, OracleAsked):
                    self._openings = self._openings.turn_to(item.language)
                    if item.complete and self._unanswered:
                        self._take_floor(floor.TakeFloor(item.turn))  # another back-end answers after all
            case SetAnswerMode(answer_mode):
                self._answer_mode = answer_mode
            case SetOpenings(on):
                self._uses_openings = on
            case SetVoice(voice):
                self._ahead.set_voice(voice)
                self._openings = self._openings.spoken_by(voice)
            case floor.TakeFloor():
                self._take_floor(item)
            case floor.Hold():
                if self.speaking and not self._held:
                    self._held = True
                    self._mark("held")
                    return True
            case floor.GoOn():
                if self._held:
                    self._held = False
                    self._mark("resumed")
            case floor.Interrupt(user_speaks):
                unanswered = self._has_floor and not user_speaks
                flush = self._give_floor_away()
                self._unanswered = unanswered
                return flush
            case floor.Silence():
                # Without the floor, no answer is in progress, but an unanswered question may still get one.
                return self._has_floor and self._give_floor_away()
            case floor.Yield(turn):
                for revision in self._revisions.of_turn(turn):
                    revision.complete = False  # the turn wasn't complete
                return self._give_floor_away()
        return False

    def _take_floor(self, ended: floor.TakeFloor) -> None:
        # With push-to-talk, the wait starts when the button is released.
        self._waits_since = self._at if ended.explicit else ended.speech_end or 0.0
        before = self._answer
        self._answer = SpokenAnswer(ended, opened_before=before.opened)
        if ended.turn == before.turn:
            self._answer.given, self._answer.corrections = before.given, before.corrections
            self._answer.opened, self._answer.opened_before = before.opened, before.opened_before
        self._has_floor, self._held, self._unanswered, self._decided = True, False, False, None
        self._playback.clear()

    def _give_floor_away(self) -> bool:
        sounding = self.speaking
        if sounding:
            self._mark("interrupted")
        self._has_floor = self._held = self._unanswered = False
        self._answer.started = self._answer.audible = False
        self._playback.clear()
        return sounding

    def _mark(self, what: MarkKind) -> None:
        self._marks.append(Mark(what, self._answer.turn, self._answer.source))

    # -- speaking ----------------------------------------------------------------------------------

    def _speak(self, out: np.ndarray) -> list[Said]:
        """Fills `out` with the clauses that are due and returns the words that end in it."""
        said: list[Said] = []
        filled = 0
        while filled < len(out):
            self._confirm_restatement()
            playing = self._playback.current
            if (playing is None or playing.holds) and not self._start_next():
                break
            playing = self._playback.current
            assert playing is not None
            playing.place_cut(self._cuts_off(playing))
            count, words = self._playback.play(out[filled:])
            self._problem = self._problem or playing.clip.problem
            for text, end, written in words:
                one = Said(text, max(1, filled + end), self._answer.turn, playing.choice.revision, written=written)
                said.append(one)
                self._answer.given.append(one)
            filled += count
            if not count and self._playback.current is playing and not playing.holds:
                break  # the voice is late
        return said

    def _cuts_off(self, playing: PlayingClause) -> bool:
        """Whether to cut the clause off between two words: for one that the user has chosen; an opening, for any."""
        if not playing.choice.revision:
            return decide(self._moment(), self._answer, self._revisions).action == "clause"
        return self._ahead.choice is not None and self._ahead.choice.cuts and self._ahead.audible

    def _confirm_restatement(self) -> None:
        """Lets a clause continue after its restated words if a revision confirms the rest of it."""
        playing, answer = self._playback.current, self._answer
        if playing is None or not playing.hold_after:
            return
        decision = whole_clause(self._moment(), answer, self._revisions, playing.choice)
        if decision is None or decision.clause is None:
            return
        if decision.revision != playing.choice.revision:
            self._marks.append(Mark("corrected", answer.turn, decision.revision, "continued"))
        playing.go_on(decision.clause)
        answer.source, answer.next_clause, answer.restates = decision.revision, 1, 0
        self._note(decision)

    def _moment(self, *, broke_off: bool = False) -> Moment:
        return Moment(
            self._at,
            self._frame_seconds,
            self._waits_since,
            self._answer_mode,
            self._uses_openings,
            self._ahead.choice,
            synthesised=not self._ahead.busy,
            broke_off=broke_off,
        )

    def _start_next(self) -> bool:
        """Starts what is decided to be said next; returns False if nothing starts in this step."""
        if self._playback.start_taken_back():
            return True
        broke_off, self._playback.broke_off = self._playback.broke_off, False
        decision = decide(self._moment(broke_off=broke_off), self._answer, self._revisions)
        if decision.action != "clause" and decision.clause is not None:
            self._ahead.request(decision.clause)  # its audio may be there already
            decision = decide(self._moment(broke_off=broke_off), self._answer, self._revisions)
        match decision.action:
            case "clause":
                started = self._start_clause(decision)
            case "opening":
                started = self._start_opening(far=decision.far)
            case _:
                started = False
        if decision.action == "wait" and decision.clause is not None:
            self._playback.broke_off = broke_off and decision.clause.cuts
        self._note(decision)
        if decision.action == "end":
            self._playback.end_held()
            if self._answer.started:
                self._mark("ended")
            self._unanswered = not self._answer.audible
            self._has_floor = self._answer.started = False
        return started

    def _note(self, decision: Decision) -> None:
        """Emits an event if another decision was made than in the last frame."""
        before, self._decided = self._decided, decision
        facts = decision.action, decision.rule, decision.revision
        if before is None or (before.action, before.rule, before.revision) != facts:
            self._events.append(SpeechDecided(self._at, self._answer.turn, *facts, decision.words))

    def _start_clause(self, decision: Decision) -> bool:
        """Starts the clause, whose audio is there. Returns False if it can't be spoken: it is skipped."""
        choice, answer = decision.clause, self._answer
        assert choice is not None
        clip = self._ahead.request(choice)
        self._ahead.clear()
        goes_over = choice.revision != (answer.source or answer.restates) and answer.audible
        if decision.words:
            answer.restates = choice.revision
        elif choice.revision:
            answer.source, answer.next_clause, answer.restates = choice.revision, choice.index + 1, 0
        else:
            answer.notified = True
        try:
            self._playback.start(choice, clip.result(), hold_after=decision.words)
            self._notice = clip.result().notice
        except (VoiceError, CancelledError) as error:
            self._problem = str(error)
            return False
        if not answer.started:
            answer.started = True
            self._mark("started")
        answer.audible = choice.revision > 0
        if goes_over:
            how: CorrectionKind = "corrected" if choice.bridge else "continued"
            self._marks.append(Mark("corrected", answer.turn, choice.revision, how))
        answer.corrections += bool(choice.bridge)
        return True

    def _start_opening(self, *, far: bool) -> bool:
        """Starts an opening if one is synthesised, a longer one if the answer is `far`."""
        opening = self._openings.take(longer=far)
        if opening is None:
            return False
        text, clip = opening
        self._answer.started = self._answer.opened = True
        self._marks += [Mark("started", self._answer.turn), Mark("opened", self._answer.turn)]
        self._playback.start(ClauseChoice(0, 0, text), clip)
        return True

    @property
    def _fills_waits(self) -> bool:
        return self._uses_openings and self._answer_mode == "thinking"

    def _synthesise_ahead(self) -> None:
        """Requests synthesis of the next clause before it is due."""
        if self._held or self._playback.broke_off:  # its replacement has already been requested
            return
        playing, moment = self._playback.current, self._moment()
        choice, unsaid = None, list[str]()
        if self._has_floor and playing is not None:
            if playing.cut is not None or playing.rest >= WORTH_CUTTING:
                choice = cutting_clause(moment, self._answer, self._revisions, playing.choice)
            words = playing.clip.words[playing.word : playing.hold_after or None] if playing.choice.revision else ()
            unsaid = [word.text for word in words]
        if choice is None:
            choice = next_to_prepare(moment, self._answer, self._revisions, has_floor=self._has_floor, unsaid=unsaid)
        if choice is not None:
            self._ahead.request(choice)
