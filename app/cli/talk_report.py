"""Reports a conversation in the terminal: prints its turns, measures back-end swaps, and prints a summary."""

from __future__ import annotations

import dataclasses
from typing import Any

from app.cli.output import Terminal
from app.conversation import events as e
from app.conversation.record.record import Record
from app.conversation.record.revisions import Revision
from app.conversation.record.transcript import Turn


class SwapGaps:
    """Measures back-end swaps from a session's events; `gaps` has one entry per swap.

    - `first_word_seconds`: the time from the swap to the new back-end's first word; None if there was none
    - `gap_seconds`: the time from the last word or the swap, whichever was later, to that first word
    """

    def __init__(self) -> None:
        self.gaps: list[dict[str, Any]] = []
        self._at = 0.0
        self._open = False
        self._last_words = 0.0

    def apply(self, event: e.Event, revision: Revision | None) -> None:
        """Processes an event, which is about `revision`."""
        match event:
            case e.BackendChanged(at=at):
                self._at, self._open = at, True
                self.gaps.append(
                    {
                        "at": at,
                        "backend": event.backend,
                        "model": event.model,
                        "reason": event.reason,
                        "first_word_seconds": None,
                        "gap_seconds": None,
                    }
                )
            case e.OracleDelta() | e.OracleHandedOver() if revision is not None and not revision.secondary:
                if not revision.text:
                    return  # handed over before its first words
                if self._open and revision.drives_since >= self._at and revision.model == self.gaps[-1]["model"]:
                    self._open = False
                    self.gaps[-1]["first_word_seconds"] = round(event.at - self._at, 3)
                    self.gaps[-1]["gap_seconds"] = round(event.at - max(self._last_words, self._at), 3)
                self._last_words = event.at


class TalkReport:
    """Prints the turns of a conversation as they are completed, and its summary.

    `paced`: whether the audio was processed in real time, so that the measured times are those that a user experiences.
    """

    def __init__(self, terminal: Terminal, *, paced: bool = True) -> None:
        self.record = Record()
        self.failures: list[str] = []
        self._terminal = terminal
        self._paced = paced
        self._driving = 0  # revisions of the driving back-end
        self._swaps = SwapGaps()
        self._underruns = 0
        self._dropped = 0
        self._lost = 0
        self._shed = 0
        self._seconds = 0.0

    def take(self, event: e.Event) -> None:
        """Processes an event of the session and prints it if relevant."""
        change = self.record.apply(event)
        revision, turn = change.revision, change.entry if isinstance(change.entry, Turn) else None
        self._swaps.apply(event, revision)
        match event:
            case e.TranscriptPartial():
                self._terminal.progress(f"you: {event.text}")
            case e.TranscriptFinal() if event.text:
                self._terminal.say(f"you:  {event.text}")
            case e.AssistantSaid() if turn is not None:
                self._terminal.progress(f"KAME: {turn.text}")
            case e.AssistantEnded() if turn is not None and turn.text:
                said = turn.written or turn.text  # code and tables are only mentioned by the voice, not read out
                self._terminal.say(f"KAME: {said.strip()}{' — interrupted' if event.interrupted else ''}")
            case e.OracleRequested(secondary=False) | e.OracleHandedOver():
                self._driving += 1
            case e.OracleEnded(reason="complete") if revision is not None and revision.secondary:
                self._terminal.say(f"comparison: {revision.text.strip()}")
            case e.BackendChanged() if event.reason != "chosen" or event.at:
                self._terminal.say(f"— {event.backend} ({event.model}) thinks from now on —")
            case e.ToolCalled():
                self._terminal.say(f"— {event.name} {event.arguments} —")
            case e.CallNotMade():
                self._terminal.note(
                    f"The model wanted to call {event.name} {event.arguments}. That was not done: it may send or "
                    "change something, and the option --allow-acting is not given."
                )
            case e.ToolReturned():
                self._terminal.progress(f"{event.name}: {event.text}")
            case e.Underrun():
                self._underruns += event.count
            case e.FramesDropped():
                self._dropped += event.frames
            case e.SoundLost():
                self._lost += event.frames
            case e.RecognitionSkipped():
                self._shed += event.decodes
            case e.DeviceChanged() | e.ServerDescribed() | e.Notice():
                self._terminal.note(event.sentence)
            case e.Failure():
                self.fail(event.sentence)
            case e.ChangeRefused():
                self.fail(f"{event.sentence} The conversation continues with what it has.")
            case e.SessionEnded():
                self._seconds = event.at

    def fail(self, sentence: str) -> None:
        """Records a failure and prints its message."""
        self.failures.append(sentence)
        self._terminal.note(sentence)

    @property
    def _responses(self) -> list[float]:
        """The seconds from the end of each question to the start of its answer; negative if the answer came first."""
        return [round(answer.response, 3) for answer in self.record.stages.answers]

    @property
    def _whose_time(self) -> str:
        return "" if self._paced else " of the file (played faster than real time; --realtime shows what a user waits)"

    def summary(self) -> dict[str, Any]:
        """Returns the turns and statistics for the JSON document."""
        return {
            "turns": [
                {
                    "speaker": t.speaker,
                    "turn": t.number,
                    "text": t.text,
                    "interrupted": t.interrupted,
                    "backends": t.backends,
                }
                for t in self.record.turns
                if t.text
            ],
            "seconds": self._seconds,
            "paced": self._paced,
            ("response_seconds" if self._paced else "response_seconds_in_file"): self._responses,
            "oracle_revisions": self._driving,
            "swaps": self._swaps.gaps,
            "backends": [
                {"backend": backend, "model": model, **dataclasses.asdict(counts)}
                for (backend, model), counts in self.record.usage.backends.items()
            ],
            "cost": round(self.record.usage.total.cost, 6),
            "underruns": self._underruns,
            "frames_dropped": self._dropped,
            "frames_lost": self._lost,
            "decodes_skipped": self._shed,
            "failures": self.failures,
        }

    def say_summary(self) -> None:
        """Prints the statistics and the swaps, then usage per back-end if there were several or any cost."""
        heard = sum(1 for t in self.record.turns if t.speaker == "user" and t.text)
        parts = [f"{self._seconds:.1f} s of talk", f"{heard} {'turn' if heard == 1 else 'turns'} heard"]
        if self._responses:
            times = ", ".join(f"{r:.2f} s" for r in self._responses)
            parts.append(f"answered after {times}{self._whose_time}")
        parts.append(f"{self._driving} oracle revisions, {self._underruns} underruns")
        self._terminal.say("; ".join(parts) + ".")
        for gap in self._swaps.gaps:
            if gap["first_word_seconds"] is not None:
                self._terminal.say(
                    f"swapped to {gap['model']}: its first word after {gap['first_word_seconds']:.2f} s, and "
                    f"{gap['gap_seconds']:.2f} s without new words for the voice{self._whose_time}."
                )
        if len(self.record.usage.backends) > 1 or self.record.usage.total.cost:
            for (backend, model), counts in self.record.usage.backends.items():
                cost = f", ${counts.cost:.4f}" if counts.cost else ""
                self._terminal.say(
                    f"{backend} ({model}): {counts.requests} requests, {counts.superseded} cut short, "
                    f"{counts.tokens_in} tokens in, {counts.tokens_out} out{cost}."
                )
