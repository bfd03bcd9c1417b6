"""Streaming recognition over a decoder that records how much sound it was given: bounded, shed, settled."""

import itertools
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from app.conversation.frame import FRAME_SAMPLES, Frame
from app.stt.base import TranscriptUpdate
from app.stt.endpointing import Endpointing
from app.stt.stable_words import StableWords
from app.stt.streaming import LONGEST_PREROLL_SECONDS, RATE, WINDOW_SECONDS, StreamingTranscriber
from app.stt.text_endpointing import WordOdds, probability, probability_by_sound
from app.stt.transcript_cleanup import without_loops


class Counting:
    """Decodes "wN" wherever the sound has the level of word N; keeps the lengths it was given. `most_words`: it gives
    no more than so many words."""

    language = "en"

    def __init__(self) -> None:
        self.lengths: list[float] = []
        self.gate: threading.Event | None = None
        self.at_gate = threading.Event()
        self.broken = False
        self.most_words = 1000

    def close(self) -> None:
        self.closed = True

    def alive(self) -> bool:
        return not self.broken

    def decode(self, samples: np.ndarray) -> str:
        if (gate := self.gate) is not None:
            self.at_gate.set()
            gate.wait(30)
        if self.broken:
            raise RuntimeError("no more")
        self.lengths.append(len(samples) / RATE)
        numbers = np.round((samples[samples > 0.05] - 0.1) / 0.004).astype(int)
        heard, counts = np.unique(numbers, return_counts=True)
        words = [f"w{n}" for n, count in zip(heard, counts, strict=True) if count > 0.35 * RATE and n >= 0]
        return " ".join(words[: self.most_words])


class Undecided:
    def probability(self, samples: np.ndarray) -> float:
        return 0.5


class Odds:
    """Keeps the texts that it was given, and has the same odds for all of them."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.found: WordOdds | None = WordOdds(2.0, 2.0)

    def odds(self, text: str) -> WordOdds | None:
        self.asked.append(text)
        return self.found


class Rig:
    """Drives a transcriber frame by frame, waiting for each pass unless told otherwise."""

    def __init__(self, words: Odds | None = None) -> None:
        self.calls: queue.Queue[Callable[[], None]] = queue.Queue()
        self.decoder = Counting()
        self.unloaded = 0
        self.stt = StreamingTranscriber(
            "test", lambda: (self.decoder, Undecided()), self.calls.put, lambda: words, self.unload
        )
        self.updates: list[TranscriptUpdate] = []
        self.finished: list[tuple[int, float, float]] = []
        self.failures: list[str] = []
        self.stt.on_update = self.updates.append
        self.stt.on_finished = lambda *args: self.finished.append(args)
        self.stt.on_failure = self.failures.append
        self.index = 0
        self.spoken = 0.0

    def unload(self) -> None:
        self.unloaded += 1

    @property
    def at(self) -> float:
        return self.index * 0.08

    def push(self, seconds: float, *, voiced: bool, wait: bool = True) -> None:
        for _ in range(round(seconds / 0.08)):
            level = 0.1 + 0.004 * int(self.spoken / 0.48) if voiced else 0.0  # a word lasts six frames
            self.spoken += 0.08 * voiced
            self.stt.push(Frame(self.index, np.full(FRAME_SAMPLES, level, np.float32)), voiced)
            self.index += 1
            if wait:
                self.settle()

    def settle(self) -> None:
        while self.stt.busy:
            self.calls.get(timeout=5)()
        while not self.calls.empty():
            self.calls.get()()

    def pause(self, at: float | None = None) -> None:
        self.stt.pause(1, self.at if at is None else at)
        self.settle()

    def end(self, at: float | None = None) -> None:
        self.stt.end(1, self.at if at is None else at)
        self.settle()

    def fall_silent(self) -> float:
        """The user pauses, which is noticed a frame later; returns since when."""
        at = self.at
        self.push(0.08, voiced=False)
        self.pause(at)
        return at


@contextmanager
def turn(words: Odds | None = None) -> Iterator[Rig]:
    rig = Rig(words)
    with rig.stt:
        rig.stt.begin(1, rig.at)
        yield rig


def test_partials_come_often_at_first_then_every_half_second_and_words_become_stable() -> None:
    rig = Rig()
    with rig.stt:
        rig.push(0.8, voiced=False)
        rig.stt.begin(1, rig.at)
        rig.push(4.0, voiced=True)
    times = [round(u.heard_until, 2) for u in rig.updates]
    steps = list(itertools.pairwise(times))
    assert max(b - a for a, b in steps if b <= times[0] + 0.5) <= 0.3 and max(b - a for a, b in steps) <= 0.5
    last = rig.updates[-1]
    assert last.stable.split() == [f"w{n}" for n in range(len(last.stable.split()))] and len(last.stable.split()) >= 6
    assert len(last.unstable.split()) <= 1


def test_the_final_is_there_at_once_when_the_pause_has_settled_it() -> None:
    with turn() as rig:
        rig.push(2.0, voiced=True)
        end = rig.fall_silent()
        assert rig.updates[-1].settled and not rig.updates[-1].final
        assert rig.finished[-1] == (1, probability("w0 w1 w2 w3", None, 0.5), end)
        passes = len(rig.decoder.lengths)
        rig.stt.end(1, end)
        assert rig.updates[-1].final and rig.updates[-1].stable == "w0 w1 w2 w3"
        assert len(rig.decoder.lengths) == passes  # no pass was needed


def test_in_another_language_the_sound_alone_tells_whether_a_turn_is_finished() -> None:
    judge = Odds()
    rig = Rig(judge)
    rig.decoder.language = "de"
    with rig.stt:
        rig.stt.begin(1, rig.at)
        rig.push(2.0, voiced=True)
        end = rig.fall_silent()
        assert rig.finished == [(1, probability_by_sound(0.5), end)] and not judge.asked
        rig.end(end)
    assert {update.language for update in rig.updates} == {"de"}


def test_a_long_turn_with_pauses_is_decoded_at_in_windows_and_no_word_is_lost_or_doubled() -> None:
    with turn() as rig:
        for _ in range(10):
            rig.push(2.4, voiced=True)
            end = rig.at
            rig.push(0.08, voiced=False)
            rig.stt.pause(1, end)
            rig.push(0.32, voiced=False)
        rig.end(end)
    final = rig.updates[-1]
    assert final.final and final.stable.split() == [f"w{n}" for n in range(50)]
    assert max(rig.decoder.lengths) < WINDOW_SECONDS + 1.0, "the cost of a pass grew with the turn"


def test_a_long_turn_is_heard_whole_without_pauses_and_by_late_passes() -> None:
    with turn() as rig:
        rig.push(57.6, voiced=True)
        rig.end()
    assert max(rig.decoder.lengths) <= WINDOW_SECONDS + 1.0
    assert rig.updates[-1].stable.split() == [f"w{n}" for n in range(120)]
    with turn() as rig:
        rig.decoder.gate = threading.Event()
        rig.push(33.6, voiced=True, wait=False)
        rig.decoder.gate.set()
        rig.end()
    assert rig.updates[-1].final and rig.updates[-1].stable.split() == [f"w{n}" for n in range(70)]
    assert max(rig.decoder.lengths) <= 20.0


def test_passes_that_end_early_or_hear_nothing_lose_nothing() -> None:
    with turn() as rig:
        rig.push(3.84, voiced=True)
        rig.decoder.most_words = 3
        rig.push(0.08, voiced=False)
        rig.stt.pause(1, rig.at)
        rig.end()
    assert rig.updates[-1].stable.split()[:6] == [f"w{n}" for n in range(6)]
    with turn() as rig:
        rig.push(8.64, voiced=True)
        rig.decoder.most_words = 0
        rig.push(2.88, voiced=True)
        rig.decoder.most_words = 1000
        rig.push(7.68, voiced=True)
        rig.end()
    assert rig.updates[-1].stable.split() == [f"w{n}" for n in range(40)]


def test_a_soft_beginning_is_heard_unless_the_app_spoke_or_a_turn_was_there_before() -> None:
    def heard(silent_since: float) -> list[str]:
        rig = Rig()
        with rig.stt:
            rig.push(1.2, voiced=False)
            rig.push(1.92, voiced=True)  # four words that the detector has not noticed
            rig.stt.begin(1, rig.at, silent_since)
            rig.push(0.96, voiced=True)
            rig.end()
            return rig.updates[-1].stable.split()

    assert heard(0.0) == [f"w{n}" for n in range(6)]
    assert heard(3.12) == ["w3", "w4", "w5"]  # the app's own voice was in the room until then


def test_a_short_word_that_was_let_pass_begins_what_is_said_soon_after() -> None:
    with turn() as rig:
        rig.push(0.96, voiced=True)
        rig.fall_silent()
        rig.stt.discard(1)
        rig.push(0.8, voiced=False)
        rig.push(0.24, voiced=True)
        rig.stt.resume(1)
        rig.push(1.2, voiced=True)
        rig.end()
    assert rig.updates[-1].stable.split() == [f"w{n}" for n in range(5)]


def test_one_that_is_entered_in_mid_talk_hears_a_turn_from_its_beginning() -> None:
    rig = Rig()
    rig.index = 750
    with rig.stt:
        rig.push(1.6, voiced=False)
        noticed = rig.at + 0.08
        rig.push(0.16, voiced=True)
        rig.stt.begin(1, noticed)
        rig.push(1.28, voiced=True)
        rig.end()
    assert rig.updates[-1].final and rig.updates[-1].stable == "w0 w1 w2"
    assert rig.decoder.lengths[-1] < 2.5, "no sound before the turn's own is decoded"


def test_a_resumed_turn_keeps_the_words_and_the_sound_in_between() -> None:
    with turn() as rig:
        rig.push(2.4, voiced=True)
        end = rig.at
        rig.push(0.16, voiced=False)
        rig.pause(end)
        rig.stt.end(1, end)
        rig.push(0.4, voiced=False)
        rig.push(0.16, voiced=True)  # the onset, before it is noticed
        rig.stt.resume(1)
        rig.push(2.24, voiced=True)
        rig.end()
    finals = [u.stable.split() for u in rig.updates if u.final]
    assert len(finals[0]) == 5 and len(finals[1]) == 10


def test_final_words_that_are_pending_come_although_the_next_turn_has_begun() -> None:
    """The sound after a gap comes at once, so a turn may begin before the words of the one before it are there."""
    with turn() as rig:
        rig.push(2.4, voiced=True)
        rig.decoder.gate = threading.Event()
        rig.push(0.48, voiced=True, wait=False)  # a pass begins and doesn't end
        end = rig.at
        rig.push(1.6, voiced=False, wait=False)
        rig.stt.end(1, end)
        rig.push(0.16, voiced=True, wait=False)
        rig.stt.begin(2, rig.at)
        rig.push(1.76, voiced=True, wait=False)
        end = rig.at
        rig.push(0.08, voiced=False, wait=False)
        rig.stt.pause(2, end)
        rig.stt.end(2, end)
        rig.decoder.gate.set()
        rig.settle()
    assert [(u.turn, u.stable) for u in rig.updates if u.final] == [(1, "w0 w1 w2 w3 w4 w5"), (2, "w6 w7 w8 w9")]


def test_a_backlog_is_skipped_and_counted_and_never_piles_up() -> None:
    with turn() as rig:
        rig.push(0.8, voiced=True)
        rig.decoder.gate = threading.Event()
        rig.push(4.0, voiced=True, wait=False)
        passes = len(rig.decoder.lengths)
        assert rig.stt.shed >= 1
        rig.decoder.gate.set()
        rig.settle()
        assert len(rig.decoder.lengths) - passes <= 2
        rig.end()
    assert len(rig.updates[-1].stable.split()) == 10  # 4.8 s, all of it heard in the end


def test_a_pause_is_decoded_beside_the_pass_that_is_running_whose_late_words_are_dropped() -> None:
    with turn() as rig:
        rig.push(1.0, voiced=True)
        rig.decoder.gate = partial = threading.Event()
        rig.push(0.48, voiced=True, wait=False)  # a pass begins, and takes long
        at = rig.at
        rig.push(0.08, voiced=False, wait=False)
        assert rig.decoder.at_gate.wait(30)
        rig.decoder.gate = None
        rig.stt.pause(1, at)
        while not rig.updates or not rig.updates[-1].settled:
            rig.calls.get(timeout=5)()
        settled = rig.updates[-1].stable
        assert settled == "w0 w1 w2" and rig.stt.busy and rig.stt.shed == 0
        partial.set()
        rig.settle()
        assert rig.updates[-1].stable == settled, "the words of less sound come too late"


def test_a_pause_in_which_two_passes_agree_is_not_decoded_again() -> None:
    for agree in (True, False):
        with turn() as rig:
            rig.decoder.most_words = 1000 if agree else 1
            rig.push(1.52, voiced=True)
            rig.decoder.most_words = 1000
            rig.fall_silent()
            decoded = len(rig.decoder.lengths)
            rig.push(0.48, voiced=False)
            assert len(rig.decoder.lengths) - decoded == (0 if agree else 1)


def test_nothing_is_kept_while_nobody_speaks() -> None:
    rig = Rig()
    with rig.stt:
        rig.push(120.0, voiced=False)
        assert rig.stt._buffer.last - rig.stt._buffer.first < (LONGEST_PREROLL_SECONDS + 0.2) * RATE
    assert rig.updates == [] and rig.decoder.lengths[1:] == []


def test_a_failure_is_reported_and_recognition_goes_on() -> None:
    with turn() as rig:
        broken: list[None] = []
        rig.stt.on_broken = lambda: broken.append(None)
        rig.decoder.broken = True
        rig.push(1.6, voiced=True)
        assert len(rig.failures) == 1 and rig.failures[0].endswith("."), "once per turn"
        assert len(broken) > 1, "as often as a pass fails"
        rig.decoder.broken = False
        rig.push(0.4, voiced=True)
        rig.end()
    assert rig.updates[-1].stable == "w0 w1 w2 w3"


def test_what_was_discarded_says_nothing_more() -> None:
    with turn() as rig:
        rig.push(1.0, voiced=True)
        rig.stt.discard(1)
        told = len(rig.updates)
        rig.push(2.0, voiced=False)
    assert len(rig.updates) == told


def test_stable_words_need_two_hypotheses_and_never_change() -> None:
    words = StableWords()
    assert words.update("Where is") == ("", "Where is")
    assert words.update("Where is the white") == ("Where is", "the white")
    assert words.update("where is the White House") == ("Where is the White", "House")
    assert words.update("We are") == ("Where is the White", "")
    assert words.settle("Where is the White House?") == "Where is the White House?"
    words.reopen()  # "House?" was heard once
    assert words.update("Where is the white horse") == ("Where is the White", "horse")


def test_whispers_loops_are_undone_and_a_speakers_repetition_is_not() -> None:
    looped = "List three impacts. List three impacts. List three impacts. List three"
    assert without_loops(looped, 2.0) == "List three impacts."
    assert without_loops("I said go home. I said go home.", 4.0) == "I said go home. I said go home."
    assert without_loops("So. What would it be? What would it be? What would", 2.0) == "So. What would it be?"


def test_a_masked_word_may_be_half_of_another_until_the_voice_pauses() -> None:
    rig = Rig()
    rig.decoder.decode = lambda samples: "It costs f*cking"  # type: ignore[method-assign]
    with rig.stt:
        rig.stt.begin(1, rig.at)
        rig.push(1.2, voiced=True)
        partials = [f"{u.stable} {u.unstable}".split() for u in rig.updates]
        assert partials and all(words == ["It", "costs"] for words in partials)
        rig.stt.pause(1, rig.at)
        rig.end()
    assert rig.updates[-1].final and rig.updates[-1].stable == "It costs f*cking"


def test_words_are_judged_as_they_come_so_that_a_pause_only_waits_for_the_sound() -> None:
    words = Odds()
    with turn(words) as rig:
        rig.push(2.24, voiced=True)
        assert words.asked[-1] == "w0 w1 w2 w3"
        asked, end = len(words.asked), rig.at
        rig.push(0.08, voiced=False)
        rig.pause(end)
        assert len(words.asked) == asked  # the settled words are the ones that were judged
        assert rig.finished[-1] == (1, probability("w0 w1 w2 w3", words.found, 0.5), end)
    assert rig.unloaded == 1


def test_a_pause_told_again_asks_the_judge_again_and_decodes_nothing() -> None:
    words = Odds()
    with turn(words) as rig:
        rig.push(2.0, voiced=True)
        end = rig.at
        rig.pause(end)
        passes, told = len(rig.decoder.lengths), list(rig.finished)
        sounds: list[int] = []

        class Counted:
            def probability(self, samples: np.ndarray) -> float:
                sounds.append(len(samples))
                return 0.9

        rig.stt.endpointing.set_judges(Counted(), words)
        rig.push(0.16, voiced=False)
        rig.pause(end)
        assert len(rig.decoder.lengths) == passes and len(sounds) == 1
        assert len(rig.finished) == len(told) + 1 and rig.finished[-1][1] > told[-1][1]
        rig.push(0.16, voiced=False)
        rig.pause(end)
        assert len(sounds) == 1, "the sound is sure enough"


def endpointing(words: Odds | None) -> tuple[Endpointing, queue.Queue[Callable[[], None]], list[float]]:
    """One at a pause at 2 s that has been judged by its sound, its calls to the loop, and what it reports."""
    calls: queue.Queue[Callable[[], None]] = queue.Queue()
    reported: list[float] = []
    judging = Endpointing(calls.put, lambda turn, finished, pause: reported.append(finished))
    judging.start(lambda: None).result()
    judging.set_judges(Undecided(), words)
    judging.start_turn(1)
    judging.language, judging.pause = "en", 2.0
    judging.set_sound(np.zeros(RATE, np.float32))
    calls.get(timeout=5)()
    return judging, calls, reported


def test_which_words_are_judged() -> None:
    judging, _, reported = endpointing(None)
    judging.set_words("one two", 1.0)
    assert reported == []
    judging.set_words("one two", 1.9)
    assert reported == [probability("one two", None, 0.5)]
    judging.stop(lambda: None)
    # A pass may take back what the one before had changed; the odds of the others are not those of these.
    words = Odds()
    judging, calls, reported = endpointing(words)
    for text in ("one two", "one two too", "one two"):
        judging.set_words(text, 2.0)
    while judging.busy:
        calls.get(timeout=5)()
    assert words.asked[-1] == "one two"
    assert reported[-1] == probability("one two", words.found, 0.5)
    judging.stop(lambda: None)


def test_a_session_may_end_while_words_are_judged() -> None:
    judging, calls, reported = endpointing(Odds())
    judging.set_words("one", 2.0)
    judging.set_words("one two", 2.0)
    unloaded: list[bool] = []
    judging.stop(lambda: unloaded.append(True))
    while not calls.empty():
        calls.get()()
    assert unloaded == [True] and reported == []


def test_a_words_judge_that_fails_leaves_the_rules() -> None:
    words = Odds()
    words.found = None
    with turn(words) as rig:
        rig.push(2.0, voiced=True)
        rig.pause()
        assert rig.finished[-1][1] == probability("w0 w1 w2 w3", None, 0.5)
