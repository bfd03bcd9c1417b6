"""Text descriptions of timeline items for the readout, tooltips and screen readers."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.conversation.events import SpeechRule
from app.gui.design.model_look import model_words
from app.gui.design.sentences import in_window_language
from app.gui.inspector.activity import Activity
from app.gui.inspector.layout import Lane
from app.gui.inspector.things import Answer, Fed, Partial, RequestBar, Swap, Taken, Thing, Trouble, UserTurn
from app.gui.widgets.formats import clock_words, wait


class TimelineWords(QObject):
    """Builds one-line descriptions in the user's language."""

    def lanes(self) -> dict[Lane, str]:
        """Returns short names for the lanes."""
        return {
            "you": self.tr("You"),
            "words": self.tr("Words"),
            "backend": self.tr("Model"),
            "secondary": self.tr("Comparison"),
            "oracle": self.tr("Oracle"),
            "kame": self.tr("KAME"),
            "trouble": self.tr("Errors"),
        }

    def interrupted(self) -> str:
        """Returns the label for an answer that the user interrupted."""
        return self.tr("interrupted")

    def sound(self, activity: Activity, second: float) -> str:
        """Returns a string with the time and both speakers' levels, or only the time if the levels are unknown."""
        at, (times, levels) = clock_words(second, tenths=True), activity.levels.between(second, second)
        if not len(times):
            return at
        words = self.tr("{0}: you at {1} dB, KAME at {2} dB")
        return words.format(at, *(f"{max(-99.0, level):.0f}".replace("-", "−") for level in levels[:, 0].tolist()))

    def thing(self, thing: Thing, activity: Activity) -> str:
        """Returns a one-line description of an item."""
        at = clock_words(thing.start, tenths=True)
        match thing:
            case UserTurn():
                return self._turn(thing, at)
            case Answer():
                return self._answer(thing, at)
            case RequestBar():
                return self._request(thing, activity.now)
            case Partial(stable=stable, unstable=unstable):
                words = self.tr("Transcript at {0}: “{1}”; may still change: “{2}”")
                if thing.final or not unstable:
                    words = (
                        self.tr("Final transcript at {0}: “{1}”")
                        if thing.final
                        else self.tr("Transcript at {0}: “{1}”")
                    )
                return words.format(at, stable or "…", unstable)
            case Fed():
                words = self.tr("{0}: {1} of thought {2} reached the voice after {3} ms")
                return words.format(at, self._count(thing.words), thing.revision, round(thing.waited_ms))
            case Taken():
                words = self.tr("{0}: the voice took token {1} of thought {2}, {3} are waiting")
                return words.format(at, thing.taken, thing.revision, thing.waiting)
            case Swap(backend=backend):
                words = {
                    "chosen": self.tr("{0}: {1} answers from here on"),
                    "fallback": self.tr("{0}: {1} takes over from the model that failed"),
                    "handed": self.tr("{0}: switched to {1}"),
                    "frontend": self.tr("{0}: the voice engine {1} listens and speaks from here on"),
                }[thing.what]
                return words.format(at, thing.name if backend is None else model_words(*backend))
            case Trouble():
                words = {
                    "late": self.tr("{0}: a frame was late by {1} ms"),
                    "dropped": self.tr("{0}: frames dropped to catch up with the microphone: {1}"),
                    "lost": self.tr("{0}: frames lost by the microphone: {1}"),
                    "underrun": self.tr("{0}: gaps in the sound, as the loudspeaker had nothing to play: {1}"),
                    "skipped": self.tr("{0}: updates skipped because speech recognition fell behind: {1}"),
                    "failure": self.tr("{0}: {2}"),
                }[thing.what]
                return words.format(at, max(1, round(thing.amount)), in_window_language(thing.sentence))

    def _turn(self, turn: UserTurn, start: str) -> str:
        if turn.backchannel:
            words = self.tr("You acknowledged at {0}: “{2}”")
        elif turn.reason == "typed":
            words = self.tr("You typed at {0}: “{2}”")
        elif turn.end is None:
            words = self.tr("You have been speaking since {0}: “{2}”")
        else:
            words = self.tr("You spoke from {0} to {1}: “{2}”")
        return words.format(start, clock_words(turn.speech_end or turn.end or 0.0, tenths=True), turn.text or "…")

    def _answer(self, answer: Answer, start: str) -> str:
        words = self.tr("KAME spoke from {0} to {1}: “{2}”")
        if answer.end is None:
            words = self.tr("KAME has been speaking since {0}: “{2}”")
        parts = [words.format(start, clock_words(answer.end or 0.0, tenths=True), answer.text or "…")]
        for decision in answer.decisions:
            form = self.tr("at {0} it spoke: {1}") if decision.action == "clause" else self.tr("at {0} it waited: {1}")
            if decision.action != "end":
                parts.append(form.format(clock_words(decision.at, tenths=True), self._rule(decision.rule)))
            if decision.action == "clause":
                break
        for at, revision, how in answer.corrections:
            corrected, continued = self.tr("corrected by {0} at {1}"), self.tr("continued with {0} at {1}")
            form = corrected if how == "corrected" else continued
            parts.append(form.format(revision, clock_words(at, tenths=True)))
        if answer.interrupted:
            parts.append(self.tr("you interrupted it"))
        elif answer.gaps:
            parts.append(self.tr("it paused to listen to you"))
        return "; ".join(parts)

    def _rule(self, rule: SpeechRule) -> str:
        return {
            "complete turn": self.tr("the model knew your complete turn"),
            "chosen back-end": self.tr("you had chosen this model"),
            "in use": self.tr("it went on with its answer"),
            "whole question": self.tr("your words were a complete question"),
            "same beginning": self.tr("two thoughts began alike"),
            "restated": self.tr("two thoughts repeated your question alike"),
            "not asked": self.tr("no model had been asked"),
            "another turn": self.tr("the newest thought answered another turn"),
            "incomplete turn": self.tr("the model didn't know your complete turn"),
            "newer request": self.tr("a newer thought was requested"),
            "other words": self.tr("the newest thought answered other words"),
            "unconfirmed": self.tr("no second thought confirmed the first"),
            "no words": self.tr("the model had sent no words"),
            "next clause": self.tr("the next clause wasn't complete"),
            "synthesis": self.tr("the next clause was being synthesised"),
            "answer due": self.tr("the answer was due"),
            "opened before": self.tr("the answer before had begun with an opening"),
            "model thinks": self.tr("the model was still thinking"),
            "all said": self.tr("all was said"),
        }[rule]

    def _request(self, bar: RequestBar, now: float) -> str:
        request = bar.request
        asked = self.tr("the complete turn") if request.final else self._count(request.asked_words)
        at, who = clock_words(request.requested_at, tenths=True), model_words(*bar.backend)
        first = self.tr("Thought {0}, {1}: asked on {2} at {3}").format(request.number, who, asked, at)
        parts = [self.tr("Comparison: {0}").format(first) if bar.secondary else first]
        if request.handed_over_at is not None:
            parts.append(self.tr("took over at {0}").format(clock_words(request.handed_over_at, tenths=True)))
        if request.first_word_seconds is not None:
            parts.append(self.tr("first words after {0}").format(wait(request.first_word_seconds)))
            parts.append(self._count(request.words))
        elif bar.end is None:
            parts.append(self.tr("no words yet after {0}").format(wait(max(0.0, now - request.requested_at))))
        else:
            parts.append(self.tr("no words"))
        if bar.handed_over:
            pass  # the remaining details belong to the request's other bar
        elif request.superseded_at is not None:
            at = clock_words(request.superseded_at, tenths=True)
            parts.append(self.tr("replaced by {0} at {1}").format(request.by, at))
        elif request.end_reason is not None:
            end = {
                "superseded": self.tr("cancelled for a newer one"),
                "failed": self.tr("failed"),
                "stopped": self.tr("stopped"),
                "complete": self.tr("complete after {0}"),
            }[request.end_reason]
            parts.append(end.format(wait((request.ended_at or 0.0) - request.requested_at)))
        return ", ".join(parts)

    def _count(self, words: int) -> str:
        return self.tr("1 word") if words == 1 else self.tr("{0} words").format(words)
