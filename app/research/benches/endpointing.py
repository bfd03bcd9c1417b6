"""`bench turns`: how often a speaker who pauses is cut off, and how soon after the end the turn is ended.

The real voice detector, recogniser and judges listen to spoken questions with pauses put in, and to real speakers, in
the sound's own time.

Results of `bench turns`: which speakers were cut off, how soon after the end the turn ended, and the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import soundfile

from app.conversation import events as e
from app.conversation.endpointing import PauseLengths
from app.conversation.turn import TurnSettings, TurnTracker
from app.diagnostics.tables import Progress, markdown, no_progress, paragraphs, quantile
from app.models.locations import default_model
from app.platform.installation import completing_command
from app.research.benches.listening import (
    DECODE_SECONDS,
    FIRST_SOUND_SECONDS,
    HEARING_COSTS,
    JUDGE_SECONDS,
    WORDS_SECONDS,
    Listener,
    SpeechModels,
    speech_models,
)
from app.research.benches.pauses import Case, bench_cases, people, recorded_cases, spoken_cases
from app.stt.base import TranscriberError
from app.stt.endpointing_weights import end_weights

AUDIBLE_SECONDS = 0.2
"""An answer that sounds longer than this into what the speaker goes on to say has audibly cut the speaker off."""
NEVER_SECONDS = 9.0
"""The delay of a turn that never ended."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A turn that was ended at second `at` though its speaker went on at `resumed`. `silent_at`: when its answer, which
    sounds from FIRST_SOUND_SECONDS after the turn's end, was silenced; None if it was not.
    """

    at: float
    resumed: float
    silent_at: float | None

    @property
    def audible(self) -> bool:
        """Whether the answer sounded into what the speaker went on to say."""
        begin = max(self.resumed, self.at + FIRST_SOUND_SECONDS)
        return self.silent_at is None or self.silent_at - begin > AUDIBLE_SECONDS


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a case. `cuts`: turns that were ended before the true end; `delay`: seconds from the true end to
    the turn's end (None: it never ended); `words`: as they were at that end.
    """

    case: Case
    cuts: tuple[Cut, ...]
    delay: float | None
    words: str
    reason: str = ""

    @property
    def audible(self) -> bool:
        """Whether the speaker was audibly cut off."""
        return any(cut.audible for cut in self.cuts)


@dataclass(slots=True)
class EndpointingResult:
    """Outcomes of all cases; `left_out`: sentences on what is missing."""

    outcomes: list[Outcome] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def rows(self) -> list[tuple[str, list[Outcome]]]:
        """The groups of the table, by name."""
        people = [one for one in self.outcomes if one.case.speaker]
        spoken = [one for one in self.outcomes if not one.case.speaker]
        # After a complete question nobody can know that more follows, so these cases are kept apart.
        clear = [one for one in spoken if one.case.kind not in ("phrase", "plain")]
        groups: dict[str, list[Outcome]] = {}
        for one in clear:
            for name in (one.case.voice, one.case.making, f"kind: {one.case.kind}"):
                groups.setdefault(name, []).append(one)
        out = [("**people**", people), ("**synthetic questions and requests**", clear), *sorted(groups.items())]
        out.append(("whole before the pause", [one for one in spoken if one.case.kind == "phrase"]))
        out.append(("plain statements", [one for one in spoken if one.case.kind == "plain"]))
        return [(name, group) for name, group in out if group]

    def table(self) -> str:
        """The result as a Markdown table."""
        rows = []
        for name, group in self.rows():
            f = figures(group)
            counts = (f"{f[count]} ({100 * f[share]:.1f} %)" for count, share in SHARES)
            delays = (f"{1000 * f[key]:.0f}" for key in ("p25", "p50", "p75", "p90"))
            rows.append((name, f["cases"], *counts, f["missed"], *delays))
        head = ("who and what", "turns", "cut off", "audibly", "missed", "delay p25, ms", "p50", "p75", "p90")
        return "\n".join(
            [*markdown(head, rows), *paragraphs([f"In the sound's own time {HEARING_COSTS}.", *self.left_out])]
        )

    def document(self) -> dict[str, Any]:
        """The result for JSON."""
        return {
            "decode_seconds": DECODE_SECONDS,
            "judge_seconds": JUDGE_SECONDS,
            "words_seconds": WORDS_SECONDS,
            "groups": {name.strip("*"): figures(group) for name, group in self.rows()},
            "cut_off": [
                {
                    "case": one.case.name,
                    "text": one.case.text,
                    "at": [round(cut.at, 3) for cut in one.cuts],
                    "audible": one.audible,
                }
                for one in self.outcomes
                if one.cuts
            ],
            "left_out": self.left_out,
        }


SHARES = (("cut_off", "share"), ("audible", "audible_share"))


def figures(group: Sequence[Outcome]) -> dict[str, Any]:
    """Turns, how many were cut off at least once, and audibly, how many never ended, and the delays in seconds."""
    delays = [NEVER_SECONDS if one.delay is None else one.delay for one in group]
    cut, audible = sum(bool(one.cuts) for one in group), sum(one.audible for one in group)
    return {
        "cases": len(group),
        "cut_off": cut,
        "share": round(cut / max(1, len(group)), 4),
        "audible": audible,
        "audible_share": round(audible / max(1, len(group)), 4),
        "missed": sum(one.delay is None for one in group),
        **{f"p{q}": quantile(delays, q / 100) for q in (25, 50, 75, 90)},
    }


def follow(
    case: Case, models: SpeechModels, settings: TurnSettings | None = None, *, pauses: PauseLengths | None = None
) -> Outcome:
    """Listens to one case; an answer sounds after each turn's end until it is interrupted."""
    tracker = TurnTracker(end_weights(), settings, pauses=pauses)
    listener = Listener(models.voice_detector(), models.transcriber(), tracker, answers=True)
    cuts: list[Cut] = []
    delay, reason, words = None, "", ""
    for _, happened in listener.listen(case.samples):
        for one in happened:
            match one:
                case e.UserStarted(at) | e.UserResumed(at):
                    if cuts and cuts[-1].silent_at is None:
                        cuts[-1] = replace(cuts[-1], silent_at=at)
                case e.UserEnded(at, _, speech_end, why):
                    resumed, untold = case.resumes(speech_end), case.is_untold(speech_end)
                    if resumed is not None and not untold:
                        cuts.append(Cut(at, resumed, None))
                    elif delay is None:
                        # At an untold pause the speaker had finished for all that anybody could know.
                        delay, reason, words = at - (speech_end if untold else case.end), why, listener.words
    return Outcome(case, tuple(cuts), delay, words, reason)


def run_endpointing(
    *,
    cases: int = 0,
    part: int = 2,
    recordings: Path | None = None,
    people_in: Path | None = None,
    progress: Progress = no_progress,
) -> EndpointingResult:
    """Listens, with the app's own models, to the bench's questions (parts 0 and 1) and to what the app's voice says;
    also to MT-Bench spoken in `recordings`, and to the real speakers in `people_in`, if given. `part`: one of PARTS, by
    its index; `cases`: the first of each, 0 for all. Raises TranscriberError and VoiceError.
    """
    result = EndpointingResult()
    with speech_models() as models:
        progress("speaking and cutting the questions")
        found = _questions(models, part, recordings, cases, result.left_out)[: cases or None]
        if people_in is not None:
            found += people(people_in, models.transcribe, models.voice_detector, part)[: cases or None]
        if not found:
            raise TranscriberError(
                "There is nothing to listen to: the voice is not installed. "
                f"Set the app up again: {completing_command()}."
            )
        result.left_out += models.left_out
        pauses: dict[str, PauseLengths] = {}
        for number, case in enumerate(found, 1):
            progress(f"case {number} of {len(found)}")
            known = pauses.setdefault(case.speaker, PauseLengths()) if case.speaker else None
            result.outcomes.append(follow(case, models, pauses=known))
    return result


def _questions(models: SpeechModels, part: int, recordings: Path | None, most: int, left_out: list[str]) -> list[Case]:
    """The synthetic cases; adds a sentence to `left_out` for each kind that is missing."""
    from app.tts.voices import make_voice

    found = bench_cases(models.transcribe, part)
    if recordings is not None:
        if not recordings.is_dir():
            raise TranscriberError(f"There is no folder {recordings}. Name one with recordings in it.")
        try:
            found += recorded_cases(recordings, models.transcribe, part)
        except soundfile.LibsndfileError as error:
            sentence = f"A recording can't be read: {error} Each is to be VOICE/QUESTION_TURN.flac."
            raise TranscriberError(sentence) from error
    if default_model("tts").is_file():
        with make_voice() as voice:
            found += spoken_cases(
                lambda text: voice.synthesize(text).result().samples, models.transcribe, part, most=most
            )
    else:
        left_out.append("The voice is not installed, so only recordings were heard.")
    if found.left_out:
        left_out.append(f"{len(found.left_out)} could not be cut between two words: {', '.join(found.left_out)}.")
    return found.made
