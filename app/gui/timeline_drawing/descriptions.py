"""Describes the things on the timeline in words, for the readout, the tooltip and the screen reader."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.gui.timeline_data.log import TimelineLog
from app.gui.timeline_data.spans import Answer, Fed, Lane, Partial, Request, Swap, Taken, Thing, Trouble, UserTurn
from app.gui.widgets.formats import backend_words, clock_words, wait


class TimelineWords(QObject):
    """Describes things in the user's language, one line each."""

    def lane(self, lane: Lane) -> str:
        """A lane's name, as short as can be."""
        return {
            "you": self.tr("You"),
            "words": self.tr("Words"),
            "backend": self.tr("Model"),
            "secondary": self.tr("Comparison"),
            "oracle": self.tr("Oracle"),
            "kame": self.tr("KAME"),
            "trouble": self.tr("Errors"),
        }[lane]

    def title(self) -> str:
        """The title of a saved image."""
        return self.tr("KAME's timeline")

    def interrupted(self) -> str:
        """The label of an answer that the user cut short."""
        return self.tr("interrupted")

    def thing(self, thing: Thing, log: TimelineLog) -> str:
        """One line about a thing."""
        match thing:
            case UserTurn():
                return self._turn(thing)
            case Partial():
                return self._partial(thing)
            case Request():
                return self._request(thing, log)
            case Answer():
                return self._answer(thing)
            case Swap():
                return self._swap(thing)
            case Trouble():
                return self._trouble(thing)
            case Fed():
                return self._fed(thing)
            case Taken():
                return self._taken(thing)

    def sound(self, log: TimelineLog, second: float) -> str:
        """How loud both sides were at a second; only the time where that isn't known."""
        levels = log.levels.at(second)
        at = clock_words(second, tenths=True)
        if levels is None:
            return at
        words = self.tr("{0}: you at {1} dB, KAME at {2} dB")
        return words.format(at, *(f"{max(-99, level):.0f}".replace("-", "−") for level in levels))

    # -- kinds of things

    def _turn(self, turn: UserTurn) -> str:
        start = clock_words(turn.start, tenths=True)
        text = turn.text
        if turn.backchannel:
            return self.tr("You, in passing, at {0}: “{1}”").format(start, text)
        if turn.reason == "typed":
            return self.tr("You typed at {0}: “{1}”").format(start, text)
        if turn.end is None:
            words = self.tr("You speak since {0}: “{1}”") if text else self.tr("You speak since {0}")
            return words.format(start, text)
        end = clock_words(turn.speech_end or turn.end, tenths=True)
        words = self.tr("You said from {0} to {1}: “{2}”") if text else self.tr("You spoke from {0} to {1}")
        return words.format(start, end, text)

    def _partial(self, partial: Partial) -> str:
        at = clock_words(partial.start, tenths=True)
        if partial.final:
            return self.tr("Settled at {0}: “{1}”").format(at, partial.stable)
        if not partial.unstable:
            return self.tr("Understood by {0}: “{1}”").format(at, partial.stable)
        words = self.tr("Understood by {0}: “{1}”; “{2}” may still change")
        if not partial.stable:
            words = self.tr("Understood by {0}: “{2}”, which may still change")
        return words.format(at, partial.stable, partial.unstable)

    def _request(self, request: Request, log: TimelineLog) -> str:
        revision = request.revision
        parts = [self._asked(request)]
        if revision.handed_over_at is not None:
            parts.append(self.tr("switched to at {0}").format(clock_words(revision.handed_over_at, tenths=True)))
        if revision.kind:
            parts.append(self.tr("chosen by the router"))
        if revision.first_word_seconds is not None:
            parts.append(self.tr("first words after {0}").format(wait(revision.first_word_seconds)))
            one = revision.words == 1
            parts.append(self.tr("1 word") if one else self.tr("{0} words").format(revision.words))
        elif request.end is None:
            seconds = max(0.0, log.now - revision.requested_at)
            parts.append(self.tr("no words yet after {0}").format(wait(seconds)))
        else:
            parts.append(self.tr("no words"))
        if request.handed_over:
            return ", ".join(parts)  # the rest is told of its other part
        if revision.superseded_at is not None:
            at = clock_words(revision.superseded_at, tenths=True)
            parts.append(self.tr("superseded by {0} at {1}").format(revision.by, at))
        elif revision.end_reason == "superseded":
            parts.append(self.tr("given up for a newer one"))
        elif revision.end_reason == "failed":
            parts.append(self.tr("failed"))
        elif revision.end_reason == "stopped":
            parts.append(self.tr("stopped"))
        elif revision.ended_at is not None:
            parts.append(self.tr("complete after {0}").format(wait(revision.ended_at - revision.requested_at)))
        return ", ".join(parts)

    def _asked(self, request: Request) -> str:
        revision = request.revision
        at = clock_words(revision.requested_at, tenths=True)
        who = backend_words(*request.backend)
        if revision.final:
            words = self.tr("Revision {0}, {1}: asked on the complete turn at {2}")
        elif revision.asked_words == 1:
            words = self.tr("Revision {0}, {1}: asked on 1 word at {2}")
        else:
            words = self.tr("Revision {0}, {1}: asked on {3} words at {2}")
        if request.secondary:
            words = self.tr("Comparison: {0}").format(words)
        return words.format(revision.number, who, at, revision.asked_words)

    def _answer(self, answer: Answer) -> str:
        start = clock_words(answer.start, tenths=True)
        text = answer.text
        if answer.end is None:
            words = self.tr("KAME speaks since {0}: “{1}”") if text else self.tr("KAME speaks since {0}")
            parts = [words.format(start, text)]
        else:
            end = clock_words(answer.end, tenths=True)
            words = self.tr("KAME said from {0} to {1}: “{2}”") if text else self.tr("KAME spoke from {0} to {1}")
            parts = [words.format(start, end, text)]
        for at, revision, how in answer.corrections:
            form = (
                self.tr("corrected by revision {0} at {1}")
                if how == "corrected"
                else self.tr("went on with revision {0} at {1}")
            )
            parts.append(form.format(revision, clock_words(at, tenths=True)))
        if answer.interrupted:
            parts.append(self.tr("you interrupted it"))
        elif answer.holds:
            parts.append(self.tr("it paused to hear you"))
        return "; ".join(parts)

    def _swap(self, swap: Swap) -> str:
        at = clock_words(swap.start, tenths=True)
        name = backend_words(*swap.backend) if swap.backend is not None else swap.name
        return {
            "chosen": self.tr("{0}: from here on {1} answers"),
            "fallback": self.tr("{0}: {1} takes over from the one that failed"),
            "handed": self.tr("{0}: switched to {1}"),
            "frontend": self.tr("{0}: from here on the front-end {1} hears and speaks"),
        }[swap.what].format(at, name)

    def _trouble(self, trouble: Trouble) -> str:
        at = clock_words(trouble.start, tenths=True)
        count = int(trouble.amount)
        one = count == 1
        match trouble.what:
            case "late":
                return self.tr("{0}: a frame was late by {1} ms").format(at, max(1, round(trouble.amount)))
            case "dropped":
                words = (
                    self.tr("{0}: 1 frame was dropped, to catch up with the microphone")
                    if one
                    else self.tr("{0}: {1} frames were dropped, to catch up with the microphone")
                )
            case "lost":
                words = (
                    self.tr("{0}: the microphone lost 1 frame of sound")
                    if one
                    else self.tr("{0}: the microphone lost {1} frames of sound")
                )
            case "underrun":
                words = (
                    self.tr("{0}: a gap in the sound, the loudspeaker ran dry")
                    if one
                    else self.tr("{0}: {1} gaps in the sound, the loudspeaker ran dry")
                )
            case "skipped":
                words = (
                    self.tr("{0}: speech recognition fell behind and skipped 1 update")
                    if one
                    else self.tr("{0}: speech recognition fell behind and skipped {1} updates")
                )
            case _:
                return self.tr("{0}: {1}").format(at, trouble.sentence)
        return words.format(at, count)

    def _fed(self, fed: Fed) -> str:
        at = clock_words(fed.start, tenths=True)
        one = fed.words == 1
        words = (
            self.tr("{0}: 1 word of revision {1} reached the voice after {2} ms")
            if one
            else self.tr("{0}: {3} words of revision {1} reached the voice after {2} ms")
        )
        return words.format(at, fed.revision, round(fed.waited_ms), fed.words)

    def _taken(self, taken: Taken) -> str:
        at = clock_words(taken.start, tenths=True)
        words = self.tr("{0}: the voice took token {1} of revision {2}, {3} are waiting")
        return words.format(at, taken.taken, taken.revision, taken.waiting)
