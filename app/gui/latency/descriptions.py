"""Describes an answer's latency in words: its stages, their times, and why it was slow."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.conversation.latency import Answer, Piece
from app.conversation.latency_causes import Cause, Reason
from app.gui.widgets.formats import seconds_words


class LatencyWords(QObject):
    """Makes the descriptions in the user's language."""

    def stage(self, piece: Piece) -> str:
        """The name of a stage."""
        return {
            "noticing": self.tr("Noticing that you had finished"),
            "writing": self.tr("Writing down what you said"),
            "backend": self.tr("The model's first words"),
            "voice": self.tr("The voice's first sound"),
            "between": self.tr("In between"),
        }[piece]

    def whole(self) -> str:
        """The name of the whole response time."""
        return self.tr("The whole wait")

    def short(self, piece: Piece) -> str:
        """A short name of a stage."""
        return {
            "noticing": self.tr("noticing"),
            "writing": self.tr("writing down"),
            "backend": self.tr("model"),
            "voice": self.tr("voice"),
            "between": self.tr("in between"),
        }[piece]

    def help(self, piece: Piece) -> str:
        """Explains from when to when a stage lasts."""
        return {
            "noticing": self.tr("From your last sound until KAME was sure that your turn was over."),
            "writing": self.tr("From your last sound until your words were settled."),
            "backend": self.tr("From the request that was answered until its first words. It may run while you talk."),
            "voice": self.tr(
                "From the model's first words, or the end of your turn if that came later, until the first sound."
            ),
            "between": self.tr("Between the end of one stage and the start of the next."),
        }[piece]

    def response(self, answer: Answer) -> str:
        """Says how fast an answer came, in a sentence or two."""
        if answer.response < 0:
            return self.tr("It began {0} before you had ended.").format(seconds_words(-answer.response))
        sentence = (
            self.tr("It was heard {0} after you had sent your words.")
            if answer.reason == "typed"
            else self.tr("It was heard {0} after your last sound.")
        ).format(seconds_words(answer.response))
        if "backend" in answer.took and answer.wait["backend"] < 0.005:
            sentence += " " + self.tr("The model had answered while you spoke, and cost no time.")
        return sentence

    def why(self, reason: Reason | None, answer: Answer, most: Piece) -> str:
        """Says why an answer was slow and what to do, in a sentence or two. `most`: what took longest."""
        if reason is not None:
            return self._slow(reason)
        if answer.response <= 0:
            return self.tr("It was not slow: there was nothing to wait for.")
        return self.tr("It was not slow. The longest part of it was “{0}”, {1}.").format(
            self.stage(most), seconds_words(answer.wait[most])
        )

    def _slow(self, reason: Reason) -> str:
        time, who, count = seconds_words(reason.seconds), reason.who, reason.count
        match reason.cause:
            case Cause.FELL_BEHIND:
                what = self.tr("1 frame was dropped") if count == 1 else self.tr("{0} frames were dropped")
                behind = self.tr("This machine fell behind: {0}. Close other programs, or choose a lighter voice.")
                return behind.format(what.format(count))
            case Cause.UNFINISHED | Cause.UNSURE:
                because = (
                    self.tr("because your sentence sounded unfinished")
                    if reason.cause is Cause.UNFINISHED
                    else self.tr("because your sentence did not tell")
                )
                return self.tr(
                    "KAME waited {0} to be sure that you had finished, {1}. Without hands-free, letting "
                    "the talk button go ends a turn at once."
                ).format(time, because)
            case Cause.BUTTON:
                return self.tr(
                    "You let the talk button go {0} after your last sound. Let it go as soon as you have finished."
                ).format(time)
            case Cause.NOTICED_LATE:
                return self.tr("KAME noticed only after {0} that you had finished{1}.").format(
                    time, self._usually(reason)
                )
            case Cause.RECOGNITION_BEHIND:
                return self.tr(
                    "This machine was too busy to write down what you said, which took {0}{1}. Close other programs."
                ).format(time, self._usually(reason))
            case Cause.WRITING:
                return self.tr("Writing down what you said took {0}{1}.").format(time, self._usually(reason))
            case Cause.STARTED_LATE:
                return self.tr("For {0}, one stage waited for another. If this stays so, close other programs.").format(
                    time
                )
            case Cause.DELAY:
                return self.tr(
                    "You have asked for a pause of {0} before each answer. Turn “Answer delay” down to hear it sooner."
                ).format(time)
            case Cause.BY_ITSELF:
                return self.tr("The voice's own model started after {0}, without waiting for another model.").format(
                    time
                )
            case Cause.VOICE:
                return self.tr("The voice took {0} from the model's first words to its first sound{1}.").format(
                    time, self._usually(reason)
                )
            case _:
                return self._slow_backend(reason, time, who)

    def _slow_backend(self, reason: Reason, time: str, who: str) -> str:
        match reason.cause:
            case Cause.ASKED_AGAIN:
                return self.tr(
                    "{0} was asked again, because your last words changed the question, and took {1} to its "
                    "first words{2}."
                ).format(who, time, self._usually(reason))
            case Cause.FELL_BACK:
                return self.tr(
                    "Another model had failed, so {0} was asked instead, and took {1} to its first words{2}."
                ).format(who, time, self._usually(reason))
            case Cause.SWAPPED:
                return self.tr("You had switched the model, so {0} was asked again, and that took {1}.").format(
                    who, time
                )
            case Cause.TOOL:
                return self.tr("The tool “{0}” was at work for {1} before the model could answer.").format(who, time)
            case Cause.FIRST:
                return self.tr(
                    "{0} took {1} to its first words. It was its first answer in this conversation: a model that "
                    "has just been loaded needs longer once."
                ).format(who, time)
        sentence = self.tr("{0} took {1} to its first words{2}.").format(who, time, self._usually(reason))
        if reason.usual is None or reason.usual > reason.seconds / 2:
            sentence += " " + self.tr("If this stays so, choose a quicker model.")
        return sentence

    def _usually(self, reason: Reason) -> str:
        """The usual time in brackets, if it is known."""
        if reason.usual is None:
            return ""
        return self.tr(" (usually {0})").format(seconds_words(reason.usual))
