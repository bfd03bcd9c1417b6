"""The cascade step by step: it never waits, says everything once, and can be stopped anywhere."""

import itertools
from concurrent.futures import Future

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.conversation.frame import Frame, silence
from app.conversation.languages import language
from app.conversation.speaking.revisions import OracleAsked, OracleCompleted, OracleDone, OracleWords
from app.conversation.turns.floor import GoOn, Hold, Interrupt, TakeFloor, Yield
from app.frontend.base import FrontEndInput, FrontEndStep, SetAnswerMode, SetOpenings, SetVoice
from app.frontend.cascade import CascadeFrontEnd
from app.tts.base import Clip
from tests.support.examples import examples
from tests.support.scripted import ScriptedVoice
from tests.support.tables import cases


class SlowVoice(ScriptedVoice):
    """Clips are ready only when the test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: list[tuple[Future[Clip], Clip]] = []

    def synthesize(self, text: str, *, growing: bool = False) -> Future[Clip]:
        clip = super().synthesize(text).result()
        future: Future[Clip] = Future()
        self.waiting.append((future, clip))
        return future

    def finish(self) -> None:
        for future, clip in self.waiting:
            if not future.cancelled():
                future.set_result(clip)
        self.waiting.clear()


class GrowingVoice(ScriptedVoice):
    """Clips have 0.3 s at first; `more` adds as much to each."""

    def __init__(self) -> None:
        super().__init__()
        self.growing: list[Clip] = []
        self.wholes: list[np.ndarray] = []

    def synthesize(self, text: str, *, growing: bool = False) -> Future[Clip]:
        future = super().synthesize(text)
        clip = future.result()
        if growing:
            self.growing.append(clip)
            self.wholes.append(clip.samples)
            clip.samples, clip.filled = np.zeros(len(clip.samples), np.float32), 0
            self.more()
        return future

    def more(self) -> None:
        for clip, whole in zip(self.growing, self.wholes, strict=True):
            if clip.problem:
                continue
            until = min(len(whole), clip.filled + 7200)
            clip.samples[clip.filled : until] = whole[clip.filled : until]
            clip.filled = until


class Rig:
    def __init__(self, voice: ScriptedVoice | None = None, answer_mode: str = "thinking", seed: int = 0) -> None:
        self.voice = voice or ScriptedVoice()
        self.front = CascadeFrontEnd(self.voice, answer_mode, seed=seed)  # type: ignore[arg-type]
        self.index = 0
        self.steps: list[FrontEndStep] = []

    def step(self, *inputs: FrontEndInput) -> FrontEndStep:
        step = self.front.step(Frame(self.index, silence()), inputs)
        assert step.samples.shape == (1920,) and step.samples.dtype == np.float32
        self.index += 1
        self.steps.append(step)
        return step

    def until_silent(self, limit: int = 600) -> None:
        while not self.front.idle and limit:
            self.step()
            limit -= 1
        assert limit, "it never came to an end"

    def finish(self, *inputs: FrontEndInput) -> None:
        self.step(*inputs)
        self.until_silent()

    def go_on(self, steps: int) -> None:
        for _ in range(steps):
            self.step()

    def say(self, words: int) -> None:
        while len(self.said.split()) < words:
            self.step()

    @property
    def said(self) -> str:
        return " ".join(word.text for step in self.steps for word in step.said)

    @property
    def marks(self) -> list[str]:
        return [mark.what for step in self.steps for mark in step.marks]


ASKED = "What is the capital of France?"
HEARD = TakeFloor(1, None, ASKED)
"""The turn has ended with a whole question, as far as anybody knows by then."""


def _answer(revision: int, text: str, *, turn: int = 1, complete: bool = True, asked: str = "") -> list[FrontEndInput]:
    words = [OracleWords(revision, turn, f" {word}", 0.0) for word in text.split()]
    return [OracleAsked(revision, turn, complete, words=asked or ASKED), *words, OracleDone(revision)]


def test_the_first_clause_is_synthesised_while_the_user_still_talks() -> None:
    rig = Rig()
    rig.step(*_answer(1, "It is Paris. It lies on the Seine.", complete=False))
    assert rig.voice.spoken[0] == "It is Paris."
    step = rig.step(HEARD)
    assert np.abs(step.samples).max() > 0.1, "it should sound in the very step in which it takes the floor"


@cases(
    "words, paused, early",
    ("What is the difference between", False, False),
    ("What is the difference between", True, True),
    ("I would like to see", False, True),
)
def test_a_clause_for_words_that_break_off_is_synthesised_in_a_pause(words: str, paused: bool, early: bool) -> None:
    rig = Rig()
    _, *answer = _answer(1, "It is Paris. It lies on the Seine.", complete=False)
    rig.step(OracleAsked(1, 1, False, words=words, paused=paused), *answer)
    assert ("It is Paris." in rig.voice.spoken) is early


def test_it_never_waits_for_the_voice() -> None:
    voice = SlowVoice()
    rig = Rig(voice)
    rig.step(TakeFloor(1), *_answer(1, "It is Paris."))
    for _ in range(5):
        assert not rig.step().samples.any()
    assert rig.front.busy and not rig.front.speaking
    voice.finish()
    assert rig.step().samples.any()


def test_a_clause_is_played_while_it_grows_and_waits_for_a_voice_that_is_late() -> None:
    voice, whole = GrowingVoice(), Rig()
    rig = Rig(voice)
    for one in (rig, whole):
        one.step(*_answer(1, "It is Paris. It lies on the Seine."), TakeFloor(1))
    rig.go_on(9)
    assert np.abs(rig.steps[2].samples).max() > 0.1 and not rig.steps[-1].samples.any() and rig.front.speaking
    assert rig.front.busy, "a session in simulated time waits for the voice"
    while not rig.front.idle:
        voice.more()
        rig.step()
    whole.until_silent()
    assert rig.said == whole.said == "It is Paris. It lies on the Seine."
    heard = np.concatenate([step.samples for step in rig.steps if step.samples.any()])
    reference = np.concatenate([step.samples for step in whole.steps if step.samples.any()])
    assert len(np.flatnonzero(heard)) == len(np.flatnonzero(reference)), "every sample is played once"


def test_what_is_not_played_to_its_end_is_not_synthesised_to_its_end() -> None:
    voice = GrowingVoice()
    rig = Rig(voice)
    rig.step(*_answer(1, "It is Paris."), TakeFloor(1))
    rig.step()
    rig.step(Interrupt())
    assert [clip.unwanted for clip in voice.growing][:1] == [True]
    rig.step(*_answer(2, "It is Lyon.", turn=2, asked="What about"))
    rig.step(*_answer(3, "It is Nice.", turn=2, asked="What about the sea?"))
    assert all(clip.unwanted for clip in voice.growing[:-1]) and not voice.growing[-1].unwanted
    assert voice.spoken[-1] == "It is Nice."


def test_a_voice_that_fails_in_mid_clause_or_in_restated_words_is_reported_and_the_answer_goes_on() -> None:
    voice = GrowingVoice()
    rig = Rig(voice)
    rig.step(*_answer(1, "It is Paris. It lies on the Seine."), TakeFloor(1))
    rig.step()
    clip = voice.growing[0]
    clip.samples, clip.words, clip.problem = clip.samples[: clip.filled], clip.words[:1], "The voice has stopped."
    while not rig.front.idle:
        voice.more()
        rig.step()
    assert rig.said == "It It lies on the Seine."
    assert {step.problem for step in rig.steps} == {"", "The voice has stopped."}
    voice = GrowingVoice()
    rig = Rig(voice)
    _restating(rig)
    while not rig.front.speaking:
        rig.step()
    clip = voice.growing[-1]
    clip.samples, clip.words, clip.problem = clip.samples[: clip.filled], clip.words[:1], "The voice has stopped."
    rig.go_on(10)
    assert rig.said == "The" and rig.steps[-1].problem == ""
    rig.step(*_answer(3, RIGHT)[1:])
    while not rig.front.idle:
        voice.more()
        rig.step()
    assert rig.said == RIGHT and {step.problem for step in rig.steps} == {"", "The voice has stopped."}


def test_where_a_newer_answer_takes_over() -> None:
    rig = Rig()
    rig.step(*_answer(1, "I think it is Lyon. That is a city in the south.", complete=False), HEARD)
    rig.finish(*_answer(2, "Nothing but Paris has ever been the capital."))
    assert rig.said == "I think it is Lyon. Or rather, nothing but Paris has ever been the capital."
    assert rig.marks == ["started", "corrected", "ended"]
    rig = Rig()
    first = "The oldest city of this country lies in the far south of it. It is Lyon."
    rig.step(*_answer(1, first, complete=False), HEARD)
    rig.finish(*_answer(2, "Nothing but Paris has ever been the capital."))
    assert rig.said.startswith("The oldest city of this country lies in the far south of it. Or rather,")
    rig = Rig()
    begun = "The oldest city of this country and of all the others near it lies"
    rig.step(*_answer(1, begun, complete=False)[:-1], HEARD)
    rig.finish(*_answer(2, "Nothing but Paris has ever been the capital."))
    said, _, corrected = rig.said.partition(" – ")
    assert begun.startswith(said) and corrected == "or rather, nothing but Paris has ever been the capital."


def test_an_older_revision_that_is_asked_again_is_the_newest_and_keeps_its_text() -> None:
    rig = Rig()
    rig.step(*_answer(5, "I think it is Lyon. That is a city in the south."), TakeFloor(1))
    rig.finish(*_answer(3, "Nothing but Paris has ever been the capital."))
    assert rig.said == "I think it is Lyon. Or rather, nothing but Paris has ever been the capital."
    assert [mark.revision for step in rig.steps for mark in step.marks] == [5, 3, 3]
    rig = Rig()
    rig.step(OracleAsked(1, 1, True), OracleWords(1, 1, "It is", 0.0))
    rig.step(*_answer(2, "It is Lyon. It lies in the south.", complete=False)[:-1])
    rig.step(OracleAsked(1, 1, True), TakeFloor(1))
    rig.step(OracleWords(2, 1, " Late words.", 0.0), OracleWords(1, 1, " Paris.", 0.0))
    rig.finish(OracleDone(2), OracleDone(1))
    assert rig.said == "It is Paris."


def test_who_goes_on_makes_the_answer_so_far_one_to_the_beginning() -> None:
    rig = Rig()
    rig.step(*_answer(1, "It is Paris."), HEARD)
    rig.step(Yield(1))
    rig.step(TakeFloor(1, 3.0))
    assert not rig.front.speaking
    rig.step(OracleCompleted(1))
    assert rig.front.speaking, "nothing was added after all"


def opened(rig: Rig) -> list[float]:
    """When openings set in: the ends of their frames."""
    return [(place + 1) * 0.08 for place, step in enumerate(rig.steps) for mark in step.marks if mark.what == "opened"]


OPENINGS = language("en").openings + language("en").longer_openings


def clicks(rig: Rig, word: str) -> bool:
    """Whether the sound jumps before `word` ends. The clips of tones end abruptly, so what follows isn't compared."""
    end = next(place for place, step in enumerate(rig.steps) if word in [one.text for one in step.said])
    sound = np.concatenate([step.samples for step in rig.steps[:end]])
    return bool(np.abs(np.diff(sound)).max() >= 0.02)


@pytest.mark.parametrize("told", [True, False])
def test_an_opening_keeps_the_silence_short_and_is_no_part_of_the_answer(told: bool) -> None:
    rig = Rig()
    rig.step(OracleAsked(1, 1, True))
    rig.step(TakeFloor(1, 0.0, ASKED, told))
    rig.go_on(18)
    [at] = opened(rig)
    assert 1.2 <= at <= 1.46 and rig.front.speaking
    rig.finish(*_answer(1, "It is Paris.")[1:])
    opening = rig.said.removesuffix(" It is Paris.")
    assert opening in language("en").openings and rig.marks == ["started", "opened", "ended"]
    assert {word.text: word.revision for step in rig.steps for word in step.said}["Paris."] == 1
    count = len(opening.split())
    assert [word.revision for step in rig.steps for word in step.said][: count + 1] == [0] * count + [1]


def test_who_lets_the_button_go_late_is_not_told_to_wait_at_once() -> None:
    rig = Rig()
    rig.step(OracleAsked(1, 1, True))
    rig.go_on(12)
    released = rig.index * 0.08
    rig.step(TakeFloor(1, 0.1, ASKED, explicit=True))
    rig.go_on(18)
    [at] = opened(rig)
    assert 1.2 <= at - released <= 1.4


@pytest.mark.parametrize(
    ("expected", "least", "most", "longer"),
    [(0.6, 1.2, 1.4, False), (1.7, 0.8, 0.96, False), (2.1, 0.8, 0.96, True), (4.0, 1.2, 1.4, True)],
)
def test_an_opening_is_said_when_no_answer_is_due(expected: float, least: float, most: float, longer: bool) -> None:
    rig = Rig()
    rig.go_on(6)
    ended = rig.index * 0.08
    rig.step(OracleAsked(1, 1, True, expected=expected), TakeFloor(1, ended, ASKED))
    rig.go_on(40)
    [at] = opened(rig)
    assert least <= at - ended <= most
    assert (rig.said in language("en").longer_openings) is longer


def test_an_answer_that_has_words_is_waited_for() -> None:
    voice = SlowVoice()
    rig = Rig(voice)
    rig.step()
    voice.finish()
    rig.step(OracleAsked(1, 1, True), TakeFloor(1, 0.0, ASKED))
    rig.go_on(10)
    rig.step(OracleWords(1, 1, " It is", 0.0))
    rig.go_on(6)
    assert not opened(rig), "after 1.5 s of silence"
    rig.go_on(4)
    assert opened(rig), "still no answer"


def test_a_longer_opening_gives_way_to_an_answer_that_is_ready() -> None:
    rig = Rig(seed=1)
    rig.go_on(6)
    rig.step(OracleAsked(1, 1, True, expected=4.0), TakeFloor(1, rig.index * 0.08, ASKED))
    while not opened(rig):
        rig.step()
    rig.say(1)
    rig.finish(*_answer(1, "It is Paris.")[1:])
    opening = rig.said.removesuffix(" It is Paris.").split()
    assert len(opening) < 3 and any(whole.split()[: len(opening)] == opening for whole in OPENINGS)
    assert not clicks(rig, "Paris.")


def test_openings_follow_from_the_seed_and_never_come_twice_in_a_row() -> None:
    def said(seed: int, expected: float) -> list[str]:
        rig = Rig(seed=seed)
        for turn in range(1, 13):
            rig.step(Interrupt(), OracleAsked(turn, turn, True, expected=expected))
            rig.step(TakeFloor(turn, rig.index * 0.08))
            rig.go_on(50)
        texts = " ".join(
            f"{'/' if mark else ''}{' '.join(word.text for word in step.said)}"
            for step in rig.steps
            for mark in [any(m.what == "opened" for m in step.marks)]
        )
        return [" ".join(text.split()) for text in texts.split("/")[1:]]

    for expected, phrases, count in ((1.0, language("en").openings, 6), (9.0, language("en").longer_openings, 12)):
        one, others = said(1, expected), [said(seed, expected) for seed in (2, 3, 4)]
        assert one == said(1, expected) and any(one != other for other in others)
        assert set(one) == set(phrases) and len(one) == count, "only for an answer that is far away, each turn has one"
        assert all(a != b for a, b in itertools.pairwise(one))


@pytest.mark.parametrize("why", ["switched off", "after", "typed", "nobody was asked", "in time"])
def test_where_no_opening_is_said(why: str) -> None:
    rig = Rig(answer_mode="after" if why == "after" else "thinking")
    rig.step(SetOpenings(why != "switched off"))
    if why != "nobody was asked":
        rig.step(OracleAsked(1, 1, True))
    rig.step(TakeFloor(1, None if why == "typed" else rig.index * 0.08, ASKED))
    for _ in range(10 if why == "in time" else 30):
        rig.step()
    rig.finish(*_answer(1, "It is Paris."))
    assert rig.said == "It is Paris." and not opened(rig)


def test_an_opening_gives_way_to_an_answer_whose_sound_is_about_to_come() -> None:
    voice = SlowVoice()
    rig = Rig(voice)
    rig.step()
    voice.finish()  # the opening
    rig.step(*_answer(1, "It is Paris."), TakeFloor(1, 0.0))
    rig.go_on(6)
    assert not rig.front.speaking
    voice.finish()
    rig.until_silent()
    assert rig.said == "It is Paris."


def test_an_opening_that_is_held_goes_on_and_a_backend_that_fails_leaves_it_alone() -> None:
    rig = Rig()
    rig.finish(OracleAsked(1, 1, True), OracleDone(1, failed=True), TakeFloor(1, -1.0))
    assert rig.said == "", "there is nothing to wait for"
    rig.step(OracleAsked(2, 2, True, expected=9.0), TakeFloor(2, -1.0))
    rig.say(1)
    last = rig.steps[-1]
    rig.step(Hold(3))
    rig.front.unheard(1920, len(last.said))
    rig.finish(GoOn(), OracleDone(2, failed=True))
    assert rig.front.idle and rig.marks == ["started", "opened", "held", "resumed", "ended"]
    rig.finish(*_answer(3, "It is Paris.", turn=2))
    assert rig.said.endswith("It is Paris."), "an opening alone has answered nothing"


GUESS = "The capital of France is Lyon. It lies on the Rhône."
RIGHT = "The capital of France is Paris. It lies on the Seine."


def _guess(number: int, words: str, text: str, *, expected: float = 0.3) -> list[FrontEndInput]:
    """A revision that was asked on the words so far."""
    return [OracleAsked(number, 1, False, words=words, expected=expected), *_answer(number, text)[1:-1]]


def _restating(rig: Rig, second: str = GUESS) -> None:
    """The user has asked the whole question, whose last request has no words yet; both before began alike."""
    rig.step(*_guess(1, "What is the capital", GUESS), *_guess(2, "What is the capital of", second))
    rig.step(OracleAsked(3, 1, True, words=ASKED, expected=0.4))
    rig.step(TakeFloor(1, rig.index * 0.08, ASKED))


def test_what_two_revisions_restate_is_said_before_the_answer_is_known() -> None:
    rig = Rig()
    _restating(rig)
    rig.go_on(20)
    assert rig.said == "The capital of France is" and rig.front.speaking and not rig.steps[-1].samples.any()
    rig.finish(*_answer(3, RIGHT)[1:])
    assert rig.said == RIGHT and rig.marks == ["started", "corrected", "ended"]
    assert [word.revision for step in rig.steps for word in step.said] == [2] * 5 + [3] * 6
    assert not clicks(rig, "Paris.")


def test_a_guess_that_is_confirmed_goes_on_without_a_seam_also_late() -> None:
    rig = Rig()
    _restating(rig)
    rig.step(*_answer(3, GUESS)[1:])
    rig.until_silent()
    whole = Rig()
    whole.finish(*_answer(3, GUESS), TakeFloor(1))
    assert rig.said == GUESS and rig.voice.spoken.count("The capital of France is Lyon.") == 1
    heard, reference = (np.concatenate([step.samples for step in one.steps]) for one in (rig, whole))
    assert np.array_equal(np.trim_zeros(heard), np.trim_zeros(reference))
    assert [word.revision for step in rig.steps for word in step.said][-1] == 3
    rig = Rig()
    _restating(rig)
    rig.go_on(30)
    rig.finish(*_answer(3, GUESS)[1:])
    assert rig.said == GUESS and rig.voice.spoken.count("The capital of France is Lyon.") == 1
    assert not clicks(rig, "Lyon.")


def test_restated_words_are_taken_back_or_end_the_turn() -> None:
    rig = Rig()
    _restating(rig)
    rig.go_on(20)
    rig.finish(*_answer(3, "It is Paris.")[1:])
    assert rig.said == "The capital of France is – or rather, it is Paris."
    rig = Rig()
    _restating(rig)
    rig.finish(OracleDone(3, failed=True))
    assert rig.said == "The capital of France is" and rig.front.idle and rig.marks == ["started", "ended"]


def test_a_user_who_goes_on_after_restated_words_is_answered_by_a_new_sentence() -> None:
    rig = Rig()
    _restating(rig)
    rig.say(3)
    rig.step(Yield(1))
    rig.step(OracleAsked(4, 1, True, words=f"{ASKED[:-1]} and Spain?"), TakeFloor(1, rig.index * 0.08))
    rig.finish(*_answer(4, "Paris and Madrid.")[1:])
    assert rig.said.endswith("Paris and Madrid.") and "rather" not in rig.said


@pytest.mark.parametrize("why", ["they differ", "far", "after", "button", "not heard"])
def test_where_nothing_is_restated(why: str) -> None:
    rig = Rig(answer_mode="after" if why == "after" else "thinking")
    second = "It is Lyon. It lies on the Rhône." if why == "they differ" else GUESS
    rig.step(*_guess(1, "What is the capital", GUESS), *_guess(2, "What is the capital of", second))
    complete = why != "not heard"
    rig.step(OracleAsked(3, 1, complete, words=ASKED, expected=9.0 if why == "far" else 0.4))
    rig.step(TakeFloor(1, rig.index * 0.08, ASKED if complete else "", why == "button"))
    rig.go_on(9)
    assert rig.said == ""


def test_an_answer_that_arrives_between_two_frames_is_synthesised_before_the_next_one() -> None:
    rig = Rig()
    rig.step()
    rig.front.prepare([OracleAsked(1, 1, True, words=ASKED), OracleWords(1, 1, " It is Paris.", 0.0), OracleDone(1)])
    assert rig.voice.spoken[-1] == "It is Paris."
    rig.finish(HEARD)
    assert rig.said == "It is Paris."


def test_it_thinks_along_unless_it_is_told_to_answer_after_the_turn() -> None:
    rig = Rig()
    assert rig.front.thinks_along
    rig.step(SetAnswerMode("after"))
    assert not rig.front.thinks_along


LONG = "The oldest city of this country lies in the far south of it, at the sea, and is called Lyon by all who live."


def wanted(revision: int, text: str) -> list[FrontEndInput]:
    """The answer of a back-end that the user has chosen in mid-answer."""
    words = _answer(revision, text)[1:]
    return [OracleAsked(revision, 1, True, wanted=True), *words]


def test_a_backend_that_the_user_has_chosen_is_heard_in_mid_sentence() -> None:
    rig = Rig()
    rig.step(*_answer(1, LONG), TakeFloor(1))
    rig.say(2)
    before = len(rig.steps)
    rig.finish(*wanted(2, "Nothing but Paris has ever been the capital of France."))
    said, _, corrected = rig.said.partition(" – ")
    assert LONG.startswith(said) and 2 <= len(said.split()) <= 5, "neither its sentence nor its clause is ended first"
    assert corrected == "or rather, nothing but Paris has ever been the capital of France."
    assert rig.marks == ["started", "corrected", "ended"]
    corrected = next(place for place, step in enumerate(rig.steps) if "corrected" in [mark.what for mark in step.marks])
    assert (corrected - before) * 0.08 < 1.0
    sound = np.concatenate([step.samples for step in rig.steps[: corrected + 1]])
    assert np.abs(np.diff(sound)).max() < 0.02, "nothing clicks"


def test_nothing_is_cut_off_for_the_same_words_or_what_is_nearly_over() -> None:
    rig = Rig()
    rig.step(*_answer(1, LONG), TakeFloor(1))
    rig.say(5)
    rig.finish(*wanted(2, f"{LONG} It is old."))
    assert rig.said == f"{LONG} It is old." and "corrected" in rig.marks
    rig = Rig()
    rig.step(*_answer(1, "It is Lyon, I believe so."), TakeFloor(1))
    rig.say(5)
    rig.finish(*wanted(2, "Nothing but Paris has ever been the capital of France."))
    assert rig.said.startswith("It is Lyon, I believe so. Or rather, nothing but Paris")


def test_for_what_the_voice_can_not_say_nothing_breaks_off() -> None:
    rig = Rig(ScriptedVoice(fail_on="or rather"))
    rig.step(*_answer(1, LONG), TakeFloor(1))
    rig.say(2)
    rig.finish(*wanted(2, "Nothing but Paris has ever been the capital of France."))
    assert rig.said.startswith("The oldest city of this country lies") and any(step.problem for step in rig.steps)


def test_a_chosen_backend_without_words_yet_cuts_nothing_off() -> None:
    voice = SlowVoice()
    rig = Rig(voice)
    rig.step(*_answer(1, LONG), TakeFloor(1))
    voice.finish()
    rig.say(5)
    rig.step(OracleAsked(2, 1, True, wanted=True), OracleWords(2, 1, " Nothing", 0.0))
    for _ in range(12):
        voice.finish()
        rig.step()
    so_far = rig.said
    assert LONG.startswith(so_far) and len(so_far.split()) > 6
    rest = "but Paris has ever been the capital of all the land."
    rig.step(*(OracleWords(2, 1, f" {word}", 0.0) for word in rest.split()))
    rig.step()
    assert LONG.startswith(rig.said), "its sound is not ready"
    voice.finish()
    rig.step(OracleDone(2))
    for _ in range(40):
        voice.finish()
        rig.step()
    assert "– or rather, nothing but Paris" in rig.said


@settings(max_examples=examples(60))
@given(st.integers(1, 15), st.integers(0, 20), st.integers(0, 3))
def test_held_anywhere_about_a_cut_nothing_is_said_twice_or_lost(chosen: int, held: int, lost: int) -> None:
    rig = Rig()
    rig.step(*_answer(1, LONG), TakeFloor(1))
    rig.say(chosen)
    new = "Nothing but Paris has ever been the capital of France."
    rig.step(*wanted(2, new))
    rig.go_on(held)
    last = rig.steps[-1]
    rig.step(Hold(2))
    words = rig.said.split()
    heard = words[: len(words) - len(last.said)] if lost else words
    rig.front.unheard(1920 if lost else 0, len(last.said) if lost else 0)
    rig.step(GoOn())
    place = len(rig.steps)
    rig.until_silent()
    after = [word.text for step in rig.steps[place - 1 :] for word in step.said]
    all_said = " ".join(heard + after)
    said, dash, corrected = all_said.partition(" – ")
    assert dash and LONG.startswith(said)
    assert corrected == "or rather, nothing but Paris has ever been the capital of France."


def test_whoever_answers_what_nobody_has_answered_is_heard() -> None:
    rig = Rig()
    rig.finish(OracleAsked(1, 1, True), OracleDone(1, failed=True), TakeFloor(1))
    rig.step(OracleAsked(2, 1, False), OracleWords(2, 1, " A guess.", 0.0))
    assert not rig.front.speaking, "a guess at it is none"
    rig.finish(*_answer(3, "It is Paris."))
    assert rig.said == "It is Paris."


@pytest.mark.parametrize("taken", [Interrupt(), Yield(1)])
def test_nobody_speaks_where_the_user_has_taken_the_floor(taken: Interrupt | Yield) -> None:
    rig = Rig()
    rig.finish(OracleAsked(1, 1, True), OracleDone(1, failed=True), TakeFloor(1))
    rig.step(taken)
    rig.finish(*_answer(2, "It is Paris."))
    assert rig.said == ""


def test_a_void_floor_that_was_never_ours_is_not_taken() -> None:
    rig = Rig()
    rig.finish(Interrupt(user_speaks=False), *_answer(1, "It is Paris."))
    assert rig.said == ""


def test_a_cut_off_elder_is_not_read_to_its_ragged_end() -> None:
    rig = Rig()
    cut = [OracleAsked(1, 1, False), *(OracleWords(1, 1, f" {w}", 0.0) for w in "It is fine. But then the".split())]
    rig.step(*cut, TakeFloor(1))
    rig.finish(*_answer(2, "It is fine. Really."))
    assert rig.said == "It is fine. Really."


def test_interrupt_and_yield_fall_silent_at_once() -> None:
    for command in (Interrupt(), Yield(1)):
        rig = Rig()
        rig.step(TakeFloor(1), *_answer(1, "A long answer that goes on and on."))
        rig.step()
        step = rig.step(command)
        assert step.flush and not step.samples.any() and rig.marks[-1] == "interrupted"
        assert rig.front.idle and not rig.step().samples.any()


@pytest.mark.parametrize("after", range(1, 12))
def test_what_the_listener_did_not_hear_is_said_after_a_hold(after: int) -> None:
    """Held behind each of its words, also behind the last of a clause: the last frame's were never heard."""
    rig = Rig()
    text = "A long answer that goes on and on, and then some more."
    rig.step(TakeFloor(1), *_answer(1, text))
    while len(rig.said.split()) < after:
        last = rig.step()
    heard = rig.said.split()
    assert rig.step(Hold(2)).flush
    rig.front.unheard(1920, len(last.said))
    for _ in range(10):
        assert not rig.step().samples.any()
    rig.finish(GoOn())
    assert rig.said.split() == [*heard, *text.split()[len(heard) - len(last.said) :]]
    assert rig.marks == ["started", "held", "resumed", "ended"]


WORDS = st.lists(st.sampled_from(["one", "two,", "three.", "four", "five;", "six?"]), min_size=1, max_size=30)


@settings(max_examples=examples(100))
@given(WORDS, st.data())
def test_however_the_words_arrive_each_is_said_once_in_order(words: list[str], data: st.DataObject) -> None:
    rig = Rig()
    rig.step(OracleAsked(1, 1, True))
    taken = data.draw(st.integers(0, len(words)))
    for number, word in enumerate(words):
        if number == taken:
            rig.step(TakeFloor(1))
        rig.step(OracleWords(1, 1, f" {word}", 0.0))
        for _ in range(data.draw(st.integers(0, 12))):
            rig.step()
    if taken == len(words):
        rig.step(TakeFloor(1))
    rig.step(OracleDone(1))
    rig.until_silent(2000)
    assert rig.said.split() == words


def test_another_voice_makes_what_was_made_ahead_again_and_says_the_next_clause() -> None:
    old, new = ScriptedVoice(), SlowVoice()
    rig = Rig(old)
    rig.step(*_answer(1, "It is Paris, I am sure. It lies on the Seine."), TakeFloor(1))
    rig.step(SetVoice(new))
    assert rig.front.voice is new and rig.front.busy
    assert new.spoken == [old.spoken[-1]], "the clause that comes next"
    rig.go_on(60)
    assert rig.said == "It is Paris, I am sure.", "the clause that was begun is of the old voice"
    new.finish()
    while not rig.front.idle:
        rig.step()
        new.finish()
    assert rig.said == "It is Paris, I am sure. It lies on the Seine."
    assert old.spoken.count("It lies on the Seine.") == 1, "the old voice is asked nothing more"


def test_a_voice_that_comes_as_a_clause_breaks_off_says_what_it_broke_off_for() -> None:
    for steps in range(1, 40):
        old, new = ScriptedVoice(), SlowVoice()
        rig = Rig(old)
        rig.step(*_answer(1, "The capital of France is the city of Paris as everybody surely knows."), TakeFloor(1))
        rig.go_on(10)
        wanted = OracleAsked(2, 1, True, wanted=True, words=ASKED)
        rig.step(wanted, OracleWords(2, 1, "No, it has always been Lyon.", 0.0), OracleDone(2))
        rig.go_on(steps)
        rig.step(SetVoice(new))
        while not rig.front.idle:
            rig.step()
            new.finish()
        assert rig.said.endswith("it has always been Lyon.") and rig.said.count("always been Lyon") == 1, steps
