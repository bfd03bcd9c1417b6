"""Streaming recognition over a decoder that tells how much sound it was given: bounded, shed, settled."""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Callable

import numpy as np

from app.conversation.frame import FRAME_SAMPLES, Frame
from app.stt.base import TranscriptUpdate
from app.stt.finished_words import WordOdds, probability, probability_by_sound
from app.stt.hallucinations import without_loops
from app.stt.stable_words import StableWords
from app.stt.streaming import LONGEST_PREROLL_SECONDS, RATE, WINDOW_SECONDS, StreamingTranscriber


class Counting:
    """Hears "wN" wherever the sound has the level of word N; keeps the lengths it was given. `deaf_behind`: it says no
    more than so many words.
    """

    language = "en"

    def __init__(self) -> None:
        self.lengths: list[float] = []
        self.gate: threading.Event | None = None
        self.broken = False
        self.deaf_behind = 1000

    def close(self) -> None:
        self.closed = True

    def decode(self, samples: np.ndarray) -> str:
        if self.gate is not None:
            self.gate.wait(5)
        if self.broken:
            raise RuntimeError("no more")
        self.lengths.append(len(samples) / RATE)
        numbers = np.round((samples[samples > 0.05] - 0.1) / 0.004).astype(int)
        heard, counts = np.unique(numbers, return_counts=True)
        words = [f"w{n}" for n, count in zip(heard, counts, strict=True) if count > 0.35 * RATE and n >= 0]
        return " ".join(words[: self.deaf_behind])


class Half:
    def probability(self, samples: np.ndarray) -> float:
        return 0.5


class Weighing:
    """Keeps the texts that it was asked about, and finds all of them whole, or what it is told to."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.found: WordOdds | None = WordOdds(2.0, 2.0)

    def odds(self, text: str) -> WordOdds | None:
        self.asked.append(text)
        return self.found


class Ears:
    """Drives a transcriber frame by frame, waiting for each look unless told otherwise."""

    def __init__(self, words: Weighing | None = None) -> None:
        self.calls: queue.Queue[Callable[[], None]] = queue.Queue()
        self.decoder = Counting()
        self.unloaded = 0
        self.stt = StreamingTranscriber(
            "test", lambda: (self.decoder, Half()), self.calls.put, lambda: words, self.unload
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

    def hear(self, seconds: float, *, voiced: bool, wait: bool = True) -> None:
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


def test_partials_come_often_at_first_then_every_half_second_and_words_become_stable() -> None:
    ears = Ears()
    with ears.stt:
        ears.hear(0.8, voiced=False)
        ears.stt.begin(1, ears.at)
        ears.hear(4.0, voiced=True)
    times = [round(u.heard_until, 2) for u in ears.updates]
    steps = list(itertools.pairwise(times))
    assert max(b - a for a, b in steps if b <= times[0] + 0.5) <= 0.3 and max(b - a for a, b in steps) <= 0.5
    last = ears.updates[-1]
    assert last.stable.split() == [f"w{n}" for n in range(len(last.stable.split()))] and len(last.stable.split()) >= 6
    assert len(last.unstable.split()) <= 1


def test_the_final_is_there_at_once_when_the_pause_has_settled_it() -> None:
    ears = Ears()
    with ears.stt:
        ears.stt.begin(1, ears.at)
        ears.hear(2.0, voiced=True)
        end = ears.at
        ears.hear(0.08, voiced=False)
        ears.stt.pause(1, end)
        ears.settle()
        assert ears.updates[-1].settled and not ears.updates[-1].final
        assert ears.finished[-1] == (1, probability("w0 w1 w2 w3", None, 0.5), end)
        looks = len(ears.decoder.lengths)
        ears.stt.end(1, end)
        assert ears.updates[-1].final and ears.updates[-1].stable == "w0 w1 w2 w3"
        assert len(ears.decoder.lengths) == looks  # no look was needed


def test_in_another_language_the_sound_alone_tells_whether_a_turn_is_finished() -> None:
    judge = Weighing()
    ears = Ears(judge)
    ears.decoder.language = "de"
    with ears.stt:
        ears.stt.begin(1, ears.at)
        ears.hear(2.0, voiced=True)
        end = ears.at
        ears.hear(0.08, voiced=False)
        ears.stt.pause(1, end)
        ears.settle()
        assert ears.finished == [(1, probability_by_sound(0.5), end)] and not judge.asked
        ears.stt.end(1, end)
        ears.settle()
    assert {update.language for update in ears.updates} == {"de"}


def test_the_final_comes_without_a_pause_too() -> None:
    ears = Ears()
    with ears.stt:
        ears.stt.begin(1, ears.at)
        ears.hear(2.0, voiced=True)
        ears.stt.end(1, ears.at)  # the button went up in mid-word
        ears.settle()
    assert [u.stable for u in ears.updates if u.final] == ["w0 w1 w2 w3"]


def test_a_long_turn_with_pauses_is_looked_at_in_windows_and_no_word_is_lost_or_doubled() -> None:
    ears = Ears()
    with ears.stt:
        ears.stt.begin(1, ears.at)
        for _ in range(10):
            ears.hear(2.4, voiced=True)
            end = ears.at
            ears.hear(0.08, voiced=False)
            ears.stt.pause(1, end)
            ears.hear(0.32, voiced=False)
        ears.stt.end(1, end)
        ears.settle()
    final = ears.updates[-1]
    assert final.final and final.stable.split() == [f"w{n}" for n in range(50)]
    assert max(ears.decoder.lengths) < WINDOW_SECONDS + 1.0, "the cost of a look grew with the turn"


def test_somebody_who_never_pauses_is_heard_whole_at_a_bounded_cost() -> None:
    ears = Ears()
    with ears.stt:
        ears.stt.begin(1, ears.at)
        ears.hear(57.6, voiced=True)
        ears.stt.end(1, ears.at)
        ears.settle()
    assert max(ears.decoder.lengths) <= WINDOW_SECONDS + 1.0
    assert ears.updates[-1].stable.split() == [f"w{n}" for n in range(120)]


def test_looks_that_come_late_take_in_all_of_a_long_turn_all_the_same() -> None:
    ears = Ears()
    with ears.stt:
        ears.stt.begin(1, ears.at)
        ears.decoder.gate = threading.Event()
        ears.hear(33.6, voiced=True, wait=False)
        ears.decoder.gate.set()
        ears.stt.end(1, ears.at)
        ears.settle()
    assert ears.updates[-1].final and ears.updates[-1].stable.split() == [f"w{n}" for n in range(70)]
    assert max(ears.decoder.lengths) <= 20.0


def test_a_look_that_ends_early_takes_back_nothing_that_was_heard_twice() -> None:
    ears = Ears()
    with ears.stt:
        ears.stt.begin(1, ears.at)
        ears.hear(3.84, voiced=True)
        ears.decoder.deaf_behind = 3
        ears.hear(0.08, voiced=False)
        ears.stt.pause(1, ears.at)
        ears.stt.end(1, ears.at)
        ears.settle()
    assert ears.updates[-1].stable.split()[:6] == [f"w{n}" for n in range(6)]


def test_looks_that_hear_nothing_where_a_window_ends_lose_nothing() -> None:
    ears = Ears()
    with ears.stt:
        ears.stt.begin(1, ears.at)
        ears.hear(8.64, voiced=True)
        ears.decoder.deaf_behind = 0
        ears.hear(2.88, voiced=True)
        ears.decoder.deaf_behind = 1000
        ears.hear(7.68, voiced=True)
        ears.stt.end(1, ears.at)
        ears.settle()
    assert ears.updates[-1].stable.split() == [f"w{n}" for n in range(40)]


def test_a_soft_beginning_is_heard_unless_the_app_spoke_or_a_turn_was_there_before() -> None:
    def heard(silent_since: float) -> list[str]:
        ears = Ears()
        with ears.stt:
            ears.hear(1.2, voiced=False)
            ears.hear(1.92, voiced=True)  # four words that the detector has not noticed
            ears.stt.begin(1, ears.at, silent_since)
            ears.hear(0.96, voiced=True)
            ears.stt.end(1, ears.at)
            ears.settle()
            return ears.updates[-1].stable.split()

    assert heard(0.0) == [f"w{n}" for n in range(6)]
    assert heard(3.12) == ["w3", "w4", "w5"]  # the app's own voice was in the room until then


def test_a_short_word_that_was_let_pass_begins_what_is_said_soon_after() -> None:
    ears = Ears()
    with ears.stt:
        ears.stt.begin(1, ears.at)
        ears.hear(0.96, voiced=True)
        end = ears.at
        ears.hear(0.08, voiced=False)
        ears.stt.pause(1, end)
        ears.settle()
        ears.stt.discard(1)
        ears.hear(0.8, voiced=False)
        ears.hear(0.24, voiced=True)
        ears.stt.resume(1)
        ears.hear(1.2, voiced=True)
        ears.stt.end(1, ears.at)
        ears.settle()
    assert ears.updates[-1].stable.split() == [f"w{n}" for n in range(5)]


def test_one_that_is_entered_in_mid_talk_hears_a_turn_from_its_beginning() -> None:
    ears = Ears()
    ears.index = 750
    with ears.stt:
        ears.hear(1.6, voiced=False)
        noticed = ears.at + 0.08
        ears.hear(0.16, voiced=True)
        ears.stt.begin(1, noticed)
        ears.hear(1.28, voiced=True)
        ears.stt.end(1, ears.at)
        ears.settle()
    assert ears.updates[-1].final and ears.updates[-1].stable == "w0 w1 w2"
    assert ears.decoder.lengths[-1] < 2.5, "no sound before the turn's own is looked at"


def test_a_resumed_turn_keeps_the_words_and_the_sound_in_between() -> None:
    ears = Ears()
    with ears.stt:
        ears.stt.begin(1, ears.at)
        ears.hear(2.4, voiced=True)
        end = ears.at
        ears.hear(0.16, voiced=False)
        ears.stt.pause(1, end)
        ears.settle()
        ears.stt.end(1, end)
        ears.hear(0.4, voiced=False)
        ears.hear(0.16, voiced=True)  # the onset, before it is noticed
        ears.stt.resume(1)
        ears.hear(2.24, voiced=True)
        ears.stt.end(1, ears.at)
        ears.settle()
    finals = [u.stable.split() for u in ears.updates if u.final]
    assert len(finals[0]) == 5 and len(finals[1]) == 10


def test_a_backlog_is_skipped_and_counted_and_never_piles_up() -> None:
    ears = Ears()
    with ears.stt:
        ears.stt.begin(1, ears.at)
        ears.hear(0.8, voiced=True)
        ears.decoder.gate = threading.Event()
        ears.hear(4.0, voiced=True, wait=False)
        looks = len(ears.decoder.lengths)
        assert ears.stt.shed >= 1
        ears.decoder.gate.set()
        ears.settle()
        assert len(ears.decoder.lengths) - looks <= 2
        ears.stt.end(1, ears.at)
        ears.settle()
    assert len(ears.updates[-1].stable.split()) == 10  # 4.8 s, all of it heard in the end


def test_nothing_is_kept_while_nobody_speaks() -> None:
    ears = Ears()
    with ears.stt:
        ears.hear(120.0, voiced=False)
        assert ears.stt._last - ears.stt._first < (LONGEST_PREROLL_SECONDS + 0.2) * RATE
    assert ears.updates == [] and ears.decoder.lengths[1:] == []


def test_ears_that_fail_say_so_and_hear_on() -> None:
    ears = Ears()
    with ears.stt:
        ears.stt.begin(1, ears.at)
        ears.decoder.broken = True
        ears.hear(0.8, voiced=True)
        assert ears.failures and ears.failures[0].endswith(".")
        ears.decoder.broken = False
        ears.hear(1.2, voiced=True)
        ears.stt.end(1, ears.at)
        ears.settle()
    assert ears.updates[-1].stable == "w0 w1 w2 w3"


def test_what_was_discarded_says_nothing_more() -> None:
    ears = Ears()
    with ears.stt:
        ears.stt.begin(1, ears.at)
        ears.hear(1.0, voiced=True)
        ears.stt.discard(1)
        told = len(ears.updates)
        ears.hear(2.0, voiced=False)
    assert len(ears.updates) == told


def test_stable_words_need_two_hypotheses_and_never_change() -> None:
    words = StableWords()
    assert words.update("Where is") == ("", "Where is")
    assert words.update("Where is the white") == ("Where is", "the white")
    assert words.update("where is the White House") == ("Where is the White", "House")
    assert words.update("We are") == ("Where is the White", "")
    assert words.contradicted == 1
    assert words.settle("Where is the White House?") == "Where is the White House?"
    words.reopen()  # "House?" was heard once
    assert words.update("Where is the white horse") == ("Where is the White", "horse")


def test_whispers_loops_are_undone_and_a_speakers_repetition_is_not() -> None:
    looped = "List three impacts. List three impacts. List three impacts. List three"
    assert without_loops(looped, 2.0) == "List three impacts."
    assert without_loops("I said go home. I said go home.", 4.0) == "I said go home. I said go home."
    assert without_loops("So. What would it be? What would it be? What would", 2.0) == "So. What would it be?"


def test_a_masked_word_may_be_half_of_another_until_the_voice_pauses() -> None:
    ears = Ears()
    ears.decoder.decode = lambda samples: "It costs f*cking"  # type: ignore[method-assign]
    with ears.stt:
        ears.stt.begin(1, ears.at)
        ears.hear(1.2, voiced=True)
        partials = [f"{u.stable} {u.unstable}".split() for u in ears.updates]
        assert partials and all(words == ["It", "costs"] for words in partials)
        ears.stt.pause(1, ears.at)
        ears.stt.end(1, ears.at)
        ears.settle()
    assert ears.updates[-1].final and ears.updates[-1].stable == "It costs f*cking"


def test_words_are_judged_as_they_come_so_that_a_pause_only_waits_for_the_sound() -> None:
    words = Weighing()
    ears = Ears(words)
    with ears.stt:
        ears.stt.begin(1, ears.at)
        ears.hear(2.24, voiced=True)
        assert words.asked[-1] == "w0 w1 w2 w3"
        asked, end = len(words.asked), ears.at
        ears.hear(0.08, voiced=False)
        ears.stt.pause(1, end)
        ears.settle()
        assert len(words.asked) == asked  # the settled words are the ones that were judged
        assert ears.finished[-1] == (1, probability("w0 w1 w2 w3", words.found, 0.5), end)
    assert ears.unloaded == 1


def test_a_pause_told_again_asks_the_judge_again_and_decodes_nothing() -> None:
    ears = Ears(Weighing())
    with ears.stt:
        ears.stt.begin(1, ears.at)
        ears.hear(2.0, voiced=True)
        end = ears.at
        ears.stt.pause(1, end)
        ears.settle()
        looks, told = len(ears.decoder.lengths), list(ears.finished)
        sounds: list[int] = []
        ears.stt._judge.probability = lambda samples: sounds.append(len(samples)) or 0.9  # type: ignore[union-attr, func-returns-value, method-assign]
        ears.hear(0.16, voiced=False)
        ears.stt.pause(1, end)
        ears.settle()
        assert len(ears.decoder.lengths) == looks and len(sounds) == 1
        assert len(ears.finished) == len(told) + 1 and ears.finished[-1][1] > told[-1][1]


def test_words_of_before_the_pause_that_miss_its_last_sound_tell_nothing() -> None:
    ears = Ears(Weighing())
    with ears.stt:
        ears.stt.begin(1, ears.at)
        ears.hear(2.0, voiced=True)
        ears.stt.pause(1, ears.at + 1.0)  # a pause that no look has reached
        ears.stt._text_until = ears.at - 1.0
        ears.stt._tell()
        assert ears.finished == []
        ears.settle()


def test_words_that_come_back_after_others_are_judged_again() -> None:
    """A look may take back what the one before had changed; what was made of the others is not of these."""
    words = Weighing()
    ears = Ears(words)
    with ears.stt:
        ears.stt.begin(1, ears.at)
        ears.hear(2.0, voiced=True)
        for text in ("one two", "one two too", "one two"):
            ears.stt._publish(text, until=ears.at)
        ears.stt._heard, ears.stt._pause = (ears.at, 0.5), ears.at
        ears.settle()
        assert words.asked[-1] == "one two"
        assert ears.finished[-1] == (1, probability("one two", words.found, 0.5), ears.at)


def test_a_talk_may_be_stopped_while_words_are_judged() -> None:
    words = Weighing()
    ears = Ears(words)
    with ears.stt:
        ears.stt.begin(1, ears.at)
        ears.hear(2.0, voiced=True)
        ears.stt._publish("one", until=ears.at)
        ears.stt._publish("one two", until=ears.at)
    while not ears.calls.empty():
        ears.calls.get()()
    assert ears.failures == [] and ears.unloaded == 1


def test_a_words_judge_that_fails_leaves_the_rules() -> None:
    words = Weighing()
    words.found = None
    ears = Ears(words)
    with ears.stt:
        ears.stt.begin(1, ears.at)
        ears.hear(2.0, voiced=True)
        ears.stt.pause(1, ears.at)
        ears.settle()
        assert ears.finished[-1][1] == probability("w0 w1 w2 w3", None, 0.5)
