"""The CPU front-end: reads the oracle aloud, and goes over to a better one in mid-answer.

Two manners. `after` waits for an answer to the complete turn. `thinking` starts as soon as the turn has ended and the
newest revision is stable (`app.conversation.stability`), fills a longer wait with a short opening, and goes over to a
better revision at a clause's end; where the user has chosen another brain meanwhile, at a word's end. Clauses are
synthesised ahead, the first one while the user still talks. Time is the frames' own.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, replace

import numpy as np

from app.conversation import turn as floor
from app.conversation.correction import after_bridge, bridge_behind, ends_sentence, mend
from app.conversation.events import AnswerMode
from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, SAMPLE_RATE, Frame
from app.conversation.languages import ENGLISH
from app.conversation.stability import Revision, is_stable
from app.conversation.words import fold, same_words
from app.frontend.base import (
    FrontEndInput,
    FrontEndStep,
    Mark,
    OracleAsked,
    OracleCompleted,
    OracleDone,
    OracleWords,
    Said,
    SetAnswerMode,
    SetOpenings,
    SetVoice,
)
from app.frontend.openings import Openings
from app.frontend.revisions import Revisions
from app.tts.base import Clip, Voice, VoiceError

FADE_SAMPLES = 240
"""10 ms: a voice cut off without a fade clicks."""

CUT_REACH = SAMPLE_RATE * 120 // 1000
CUT_WITHIN = SAMPLE_RATE * 6 // 10
"""A clause that breaks off does so in the quietest place of the next 0.6 s, at most 120 ms beside a word's end."""

WORTH_CUTTING = SAMPLE_RATE
"""A clause that has less than a second to go is said to its end."""

OPENING_SILENCE = 0.5
"""Seconds without a sound, since the button's release, that an opening keeps from growing longer."""

OPENING_SILENCE_GUESSED = 0.76
"""The same since the end of the user's speech where nobody has said that the turn is over. Of 24 pauses between the
sentences of MT-Bench's questions in two synthetic voices 14 last longer than 0.45 s and none longer than 0.74 s: an
opening after 0.5 s would begin just as the user goes on."""

OPENING_SILENCE_AT_WORST = 0.9
"""The same where the answer's first clause is being synthesised: it takes 0.1 to 0.4 s on two cores of a laptop, and an
opening would delay it by a second."""


FAR_SECONDS = 0.8
"""An answer that is so far away is opened at once: an opening takes about a second, and a slow brain's first clause
more than that. As soon as a turn's end is known, an answer that is ready would sound, too."""


@dataclass(frozen=True, slots=True)
class _Choice:
    """The next clause to say: number `index` of revision `revision`, spoken as `text`; an opening is of revision 0.
    `cuts`: the clause that is being said breaks off for it.
    """

    revision: int
    index: int
    text: str
    bridge: str = ""
    cuts: bool = False


@dataclass(slots=True)
class _Playing:
    choice: _Choice
    clip: Clip
    position: int = 0
    word: int = 0
    cut: tuple[int, int] | None = None
    """Where it breaks off, and how many of its words have been said by then."""


class CascadeFrontEnd:
    """Speaks through `voice`. See the module's docstring for the manners. `openings`: whether a wait is filled with
    one; their order follows from `seed`. `code`: the language that the talk begins in.
    """

    name = "cascade"
    hears_oracle = True
    needs = ""

    def __init__(
        self,
        voice: Voice,
        answer_mode: AnswerMode = "thinking",
        *,
        openings: bool = True,
        seed: int = 0,
        code: str = ENGLISH,
    ) -> None:
        self.voice = voice
        self._answer_mode: AnswerMode = answer_mode
        self._opens = openings
        self._openings = Openings(voice, seed, code)
        self._revisions = Revisions()
        self._ended = floor.TakeFloor(0)  # how the user's turn has ended
        self._at = 0.0  # when the present step's frame ends
        self._waits_since = 0.0  # from when on the user waits for the answer
        self._turn = 0  # the user's turn that is answered, or was last
        self._has_floor = False
        self._forsaken = False  # the floor was ours, and nobody had anything to say
        self._started = False  # an opening or something of this answer has sounded
        self._answers = False  # something of this answer has
        self._held = False
        self._given: list[Said] = []  # the words given out in this turn
        self._source = 0  # the revision that the clauses are taken from
        self._next = 0  # its next clause
        self._corrections = 0
        self._playing: _Playing | None = None
        self._previous: _Playing | None = None  # the clause before, whose end may not have been heard
        self._again: _Playing | None = None  # a clause that was begun and taken back whole
        self._broke_off = False  # the clause before did, for what is made ready
        self._ahead: tuple[_Choice, Future[Clip]] | None = None
        self._marks: list[Mark] = []
        self._problem = ""

    # -- the protocol ------------------------------------------------------------------------------

    def __enter__(self) -> CascadeFrontEnd:
        self.voice.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self.voice.__exit__(*exc)

    @property
    def speaking(self) -> bool:
        """An answer has begun to sound and is not over; also while it is held."""
        return self._has_floor and self._started

    @property
    def busy(self) -> bool:
        """A clause is being synthesised."""
        return self._openings.preparing or (self._ahead is not None and not self._ahead[1].done())

    @property
    def idle(self) -> bool:
        """The user holds the floor, or nobody: there is nothing to say."""
        return not self._has_floor

    def ready(self, heard: str) -> bool:
        """The newest revision answers `heard`, or begins like the one before, and its first clause is synthesised; or
        an opening is, which covers the wait for an answer that is far away. Always in the manner `after`, which asks
        once the turn has ended.
        """
        if self._answer_mode == "after":
            return True
        newest, ahead = self._revisions.newest, self._ahead
        if newest is None:
            return False
        if self._opens and self._openings.prepared and not newest.complete and self._is_far(newest, heard):
            return True
        if ahead is None or ahead[0].revision != newest.number or not ahead[1].done():
            return False
        if heard:
            return same_words(newest.asked, heard)
        return is_stable(newest, self._revisions, floor.TakeFloor(newest.turn))

    def step(self, frame: Frame, inputs: Sequence[FrontEndInput]) -> FrontEndStep:
        """See `FrontEnd.step`."""
        self._marks, self._problem, self._at = [], "", frame.at
        flush = False
        for item in inputs:
            flush = self._take(item) or flush
        samples = np.zeros(FRAME_SAMPLES, np.float32)
        said: list[Said] = []
        if self._has_floor and not self._held:
            self._speak(samples, said)
        self._look_ahead()
        if self._opens and self._answer_mode == "thinking" and not self._has_floor and not self.busy:
            self._openings.prepare()
        return FrontEndStep(samples, tuple(said), tuple(self._marks), flush, self._problem)

    def unheard(self, samples: int, words: int) -> None:
        """The last `samples` samples and `words` words given out never sounded: they are still to be said."""
        if words:
            del self._given[-words:]
        playing = self._playing
        begun = playing.position if playing is not None else 0
        if begun < samples and self._previous is not None:
            # The silence reaches back into the clause before: that one is taken up, this one comes again.
            if playing is not None:
                playing.position = playing.word = 0
                self._again = playing
            playing, self._previous = self._previous, None
            samples -= begun
        if playing is not None:
            playing.position = max(0, playing.position - samples)
            self._rewind_to_word(playing)
            self._playing = playing

    @property
    def _said(self) -> list[str]:
        """The words of the answer given out in this turn; an opening's are none of them."""
        return [word.text for word in self._given if word.revision]

    # -- what arrives ------------------------------------------------------------------------------

    def _take(self, item: FrontEndInput) -> bool:
        """Takes one input in; returns whether what was given out must be thrown away."""
        match item:
            case OracleAsked():
                self._revisions.ask(item, self._at, in_use=self._source)
                self._openings = self._openings.turn_to(item.language)
                if item.complete and self._forsaken:
                    self._take_floor(floor.TakeFloor(item.turn))  # somebody else answers what nobody has answered
            case OracleWords():
                self._revisions.add(item)
            case OracleCompleted(number):
                if (revision := self._revisions.get(number)) is not None:
                    revision.complete = True
            case OracleDone(number):
                if (revision := self._revisions.get(number)) is not None:
                    revision.done = True
            case SetAnswerMode(answer_mode):
                self._answer_mode = answer_mode
            case SetOpenings(on):
                self._opens = on
            case SetVoice(voice):
                self._speak_with(voice)
            case floor.TakeFloor():
                self._take_floor(item)
            case floor.Hold():
                if self.speaking and not self._held:
                    self._held = True
                    self._marks.append(Mark("held", self._turn, self._source))
                    return True
            case floor.GoOn():
                if self._held:
                    self._held = False
                    self._marks.append(Mark("went_on", self._turn, self._source))
            case floor.Interrupt(user_speaks):
                forsaken = self._has_floor and not user_speaks
                flush = self._give_floor_away()
                self._forsaken = forsaken
                return flush
            case floor.Yield(turn):
                for revision in self._revisions.of_turn(turn):
                    revision.complete = False  # the turn's words were not all there
                return self._give_floor_away()
        return False

    def _take_floor(self, ended: floor.TakeFloor) -> None:
        self._ended = ended
        # Who lets the button go waits from then on.
        self._waits_since = self._at if ended.told else ended.speech_end or 0.0
        if ended.turn != self._turn:
            self._given, self._corrections = [], 0
            self._turn = ended.turn
        self._source, self._next = 0, 0
        self._has_floor, self._held, self._started, self._answers = True, False, False, False
        self._forsaken = False
        self._playing = self._previous = self._again = None
        self._broke_off = False

    def _give_floor_away(self) -> bool:
        sounding = self.speaking
        if sounding:
            self._marks.append(Mark("interrupted", self._turn, self._source))
        self._has_floor = self._held = self._started = self._answers = self._forsaken = False
        self._playing = self._previous = self._again = None
        self._broke_off = False
        return sounding

    # -- speaking ----------------------------------------------------------------------------------

    def _speak(self, out: np.ndarray, said: list[Said]) -> None:
        """Fills `out` with the clauses that are due."""
        filled = 0
        while filled < len(out):
            playing = self._playing
            if playing is None:
                playing = self._begin_clause() or self._begin_opening()
                if playing is None:
                    return
            clip, cut = playing.clip, self._place_cut(playing)
            count = min(len(out) - filled, (len(clip.samples) if cut is None else cut[0]) - playing.position)
            out[filled : filled + count] = clip.samples[playing.position : playing.position + count]
            if cut is not None:
                _fade_out(out[filled : filled + count], cut[0] - playing.position)
            playing.position += count
            reached = cut is not None and playing.position >= cut[0]
            words = cut[1] if reached and cut is not None else len(clip.words)
            while playing.word < words and (reached or clip.words[playing.word].end <= playing.position):
                word = clip.words[playing.word]
                end = filled + count - max(0, playing.position - word.end)
                said.append(Said(word.text, max(1, end), self._turn, playing.choice.revision))
                self._given.append(said[-1])
                playing.word += 1
            filled += count
            if reached:
                self._break_off(playing)
            elif playing.position >= len(clip.samples):
                self._previous, self._playing = playing, None

    def _place_cut(self, playing: _Playing) -> tuple[int, int] | None:
        """Where the clause breaks off, as in `_Playing.cut`: once what comes then can be heard, in the next quiet place
        between two words.
        """
        if self._ahead is None or not self._ahead[0].cuts or not _can_be_heard(self._ahead[1]):
            playing.cut = None
        elif playing.cut is None:
            playing.cut = quiet_cut(playing.clip, playing.position, playing.word)
        return playing.cut

    def _break_off(self, playing: _Playing) -> None:
        """What has been said of the clause is all of it."""
        clip = playing.clip
        playing.clip = replace(clip, samples=clip.samples[: playing.position], words=clip.words[: playing.word])
        playing.cut = None
        self._previous, self._playing = playing, None
        self._broke_off = True

    def _begin_clause(self) -> _Playing | None:
        """The next clause, if its sound is ready; ends the answer when there is none to come."""
        if self._again is not None:
            self._playing, self._again = self._again, None
            return self._playing
        broke_off, self._broke_off = self._broke_off, False
        if broke_off and self._ahead is not None and self._ahead[0].cuts:
            choice: _Choice | None = self._ahead[0]
        else:
            choice = self._prepared() or self._choose(self._said)
        if choice is None:
            if self._exhausted():
                if self._started:
                    self._marks.append(Mark("ended", self._turn, self._source))
                self._forsaken = not self._answers
                self._has_floor = self._started = False
            return None
        future = self._synthesis_of(choice)
        if not future.done():
            self._broke_off = broke_off and choice.cuts
            return None
        self._ahead = None
        joined = choice.revision != self._source and self._answers
        self._source, self._next = choice.revision, choice.index + 1
        try:
            clip = future.result()
        except (VoiceError, CancelledError) as error:
            self._problem = str(error)  # the clause is left out, and the user is told
            return None
        if not self._started:
            self._started = True
            self._marks.append(Mark("started", self._turn, choice.revision))
        self._answers = True
        if joined:
            how = "corrected" if choice.bridge else "continued"
            self._marks.append(Mark("mended", self._turn, choice.revision, how))
        self._corrections += bool(choice.bridge)
        self._playing = _Playing(choice, clip)
        return self._playing

    def _begin_opening(self) -> _Playing | None:
        """An opening, once the silence would grow too long and nothing of the answer can be heard."""
        if self._started or not self._opens or self._answer_mode != "thinking" or not self._has_floor:
            return None
        if self._ended.speech_end is None:
            return None  # it was typed
        asked = self._revisions.of_turn(self._turn)
        if not asked:
            return None  # nobody was asked: it may have been a cough
        ahead = self._ahead
        about_to_come = ahead is not None and not ahead[1].done() and self._may_speak(ahead[0].revision)
        most = OPENING_SILENCE if self._ended.told else OPENING_SILENCE_GUESSED
        if about_to_come:
            most = OPENING_SILENCE_AT_WORST
        elif self._is_far(asked[-1]):
            most = 0.0
        # What is given out at this step sounds behind its frame.
        if self._at + FRAME_SECONDS - self._waits_since <= most or (opening := self._openings.take()) is None:
            return None
        text, clip = opening
        self._started = True
        self._marks += [Mark("started", self._turn), Mark("opened", self._turn)]
        self._playing = _Playing(_Choice(0, 0, text), clip)
        return self._playing

    def _is_far(self, newest: Revision, heard: str = "") -> bool:
        """Whether the answer's first clause is not expected before an opening has been said. `heard`: the turn's words
        where they are known; if the newest revision was not asked about them, another one will be.
        """
        if heard and not same_words(newest.asked, heard):
            return newest.expected > FAR_SECONDS
        return not newest.text and newest.due > self._at + FAR_SECONDS

    def _prepared(self) -> _Choice | None:
        """The clause that was made ready while the user talked: an answer begins with it, at once."""
        if self._answers or self._ahead is None:
            return None
        choice = self._ahead[0]
        return choice if self._may_speak(choice.revision) else None

    def _may_speak(self, number: int) -> bool:
        """Whether a revision may be spoken now."""
        revision = self._revisions.get(number)
        if revision is None or revision.turn != self._turn:
            return False
        if self._answer_mode == "after":
            return revision.complete
        return number == self._source or is_stable(revision, self._revisions, self._ended)

    def _choose(self, said: list[str], *, cuts: bool = False, early: bool = False) -> _Choice | None:
        """The clause to say after `said`: of the newest revision that can be joined, else of the one in use. `cuts`: in
        mid-sentence, wherever that is. `early`: also of one that may not be spoken yet.
        """
        for revision in self._candidates(early):
            clauses = revision.clauses
            if revision.number == self._source:
                if self._next < len(clauses):
                    return _Choice(revision.number, self._next, clauses[self._next])
                continue
            join = mend(
                " ".join(said),
                clauses,
                complete=revision.done,
                corrections=self._corrections,
                resumed=not self._source,
                code=revision.language,
            )
            if join.action == "wait" or join.next_clause >= len(clauses):
                continue
            if join.action == "correct" and self._in_sentence(said) and not revision.wanted:
                continue  # a sentence that was begun is finished before another answer is taken up
            clause = " ".join(clauses[join.next_clause].split()[join.skip :])
            if join.bridge:
                last = "x" if cuts else said[-1] if said else ""
                clause = f"{bridge_behind(last, join.bridge)} {after_bridge(clause, revision.language)}"
            return _Choice(revision.number, join.next_clause, clause, join.bridge, cuts)
        return None

    def _cut(self) -> _Choice | None:
        """What the clause that is being said is to break off for: the answer of a brain that the user has chosen since,
        if that says something else.
        """
        playing = self._playing
        newest = next(iter(self._candidates(False)), None)
        if playing is None or newest is None or not newest.wanted:
            return None
        playing_from = self._revisions.get(playing.choice.revision)
        if playing_from is not None and newest.order <= playing_from.order:
            return None
        if playing.cut is None and len(playing.clip.samples) - playing.position < WORTH_CUTTING:
            return None
        choice = self._choose(self._said, cuts=True) if self._said else None
        return choice if choice is not None and choice.bridge else None

    def _in_sentence(self, said: list[str]) -> bool:
        """Whether what was said stops in mid-sentence, and the revision in use can go on with it."""
        current = self._revisions.get(self._source)
        if current is None or not said or ends_sentence(said[-1]):
            return False
        return self._next < len(current.clauses)

    def _candidates(self, early: bool) -> list[Revision]:
        """The revisions that may be spoken now, best first: the newest with words, then the one in use. `early`: also
        those that may be spoken once the turn has ended.
        """
        turn = self._turn if self._has_floor else max((r.turn for r in self._revisions), default=0)
        early = early and self._answer_mode == "thinking"
        fitting = [
            r
            for r in self._revisions.of_turn(turn)
            if fold(r.text) and ((early and r.may_stay) or self._may_speak(r.number))
        ]
        if not fitting:
            return []
        newest = fitting[-1]
        current = self._revisions.get(self._source) if self._has_floor else None
        if current is None or current is newest:
            return [newest]
        if newest.done and self._all_said(newest):
            return [newest]  # the newer one holds nothing more: the older one's rest is void
        return [newest, current]

    def _all_said(self, revision: Revision) -> bool:
        join = mend(" ".join(self._said), revision.clauses, complete=True, code=revision.language)
        return join.next_clause >= len(revision.clauses)

    def _exhausted(self) -> bool:
        """Whether every revision of this turn that was asked for is over, the complete one among them."""
        asked = self._revisions.of_turn(self._turn)
        return bool(asked) and asked[-1].done and asked[-1].complete

    def _look_ahead(self) -> None:
        """Has the clause that comes next synthesised before it is due."""
        if self._held or self._broke_off:  # what it broke off for is ready
            return
        if (cut := self._cut()) is not None:
            self._synthesis_of(cut)
            return
        said = self._said
        if self._playing is not None and self._playing.choice.revision:
            said += [word.text for word in self._playing.clip.words[self._playing.word :]]
        elif not self._has_floor:
            newest = self._revisions.newest
            if newest is None:
                return
            # The user may be going on with a turn that was answered too early: then what was said stays.
            said = said if newest.turn == self._turn else []
        source, following = self._source, self._next
        if not self._has_floor:
            self._source, self._next = 0, 0
        choice = self._choose(said, early=not self._answers)
        self._source, self._next = source, following
        if choice is not None:
            self._synthesis_of(choice)

    def _synthesis_of(self, choice: _Choice) -> Future[Clip]:
        if self._ahead is not None:
            if self._ahead[0].text == choice.text:
                self._ahead = (choice, self._ahead[1])
                return self._ahead[1]
            self._ahead[1].cancel()
        self._ahead = (choice, self.voice.synthesize(choice.text))
        return self._ahead[1]

    def _speak_with(self, voice: Voice) -> None:
        """Goes over to another voice, or to this one as it sounds now: what was made ahead is made again."""
        self.voice = voice
        self._openings = self._openings.spoken_by(voice)
        if self._ahead is not None:
            choice, clip = self._ahead
            clip.cancel()
            self._ahead = (choice, voice.synthesize(choice.text))

    @staticmethod
    def _rewind_to_word(playing: _Playing) -> None:
        """Back to the start of the word at the position: nobody goes on in the middle of one."""
        words = playing.clip.words
        playing.word = sum(1 for word in words if word.end <= playing.position)
        if playing.word < len(words):
            playing.position = min(playing.position, words[playing.word].start)
        clip = playing.clip
        if 0 < playing.position < len(clip.samples):
            samples = clip.samples.copy()
            ramp = np.linspace(0.0, 1.0, min(FADE_SAMPLES, len(samples) - playing.position), dtype=np.float32)
            samples[playing.position : playing.position + len(ramp)] *= ramp
            playing.clip = replace(clip, samples=samples)


def quiet_cut(clip: Clip, position: int, word: int) -> tuple[int, int] | None:
    """Where `clip` is best broken off behind sample `position`, at which its word number `word` is being said: a
    sample, and how many words have been said by then. None: nowhere.

    Words are placed by their letters, so that the pause between two of them may be a little beside that: it is taken
    where the sound is quietest near it.
    """
    best: tuple[float, int, int] | None = None
    for place in range(word, len(clip.words) - 1):
        end = clip.words[place].end
        first, last = max(position + 1, end - CUT_REACH), end + CUT_REACH
        if best is not None and first > position + CUT_WITHIN:
            break
        energy = np.convolve(np.square(clip.samples[first:last]), np.ones(FADE_SAMPLES), "valid")
        if not len(energy):
            continue
        quietest = int(energy.argmin())
        found = (float(energy[quietest]), first + quietest + FADE_SAMPLES, place + 1)
        if best is None or found[0] < best[0]:
            best = found
    return best[1:] if best is not None else None


def _can_be_heard(clip: Future[Clip]) -> bool:
    return clip.done() and not clip.cancelled() and clip.exception() is None


def _fade_out(samples: np.ndarray, left: int) -> None:
    """Fades the sound out that breaks off `left` samples behind the first of these."""
    until_end = left - np.arange(len(samples), dtype=np.float32)
    samples *= np.clip(until_end / FADE_SAMPLES, 0.0, 1.0)
