"""Describes an answer's latency in words: its stages, its response time, and why it was slow."""

from __future__ import annotations

from typing import NamedTuple

from PySide6.QtCore import QObject

from app.conversation.events import ContextMeasured
from app.conversation.frame import FRAME_MS, FRAME_SECONDS
from app.conversation.frame_budget import FrameBudget
from app.conversation.latency import Answer, Cause, Piece, Reason
from app.gui.widgets.formats import clock_words, seconds_words


class PieceWords(NamedTuple):
    """The name of a stage, its short name, and from when to when it lasts."""

    name: str
    short: str
    help: str


class LatencyWords(QObject):
    """Makes the descriptions in the user's language."""

    def piece(self, piece: Piece) -> PieceWords:
        """Returns what a stage is called."""
        return {
            "noticing": PieceWords(
                self.tr("Detecting the end of your turn"),
                self.tr("end of turn"),
                self.tr("From your last sound until KAME was sure that your turn was over."),
            ),
            "writing": PieceWords(
                self.tr("Transcribing what you said"),
                self.tr("transcript"),
                self.tr("From your last sound until your words were final."),
            ),
            "backend": PieceWords(
                self.tr("The model's first words"),
                self.tr("model"),
                self.tr("From the request that was answered until its first words. It may run while you talk."),
            ),
            "voice": PieceWords(
                self.tr("The voice's first sound"),
                self.tr("voice"),
                self.tr("From the model's first words, or the end of your turn if later, until the first sound."),
            ),
            "between": PieceWords(self.tr("In between"), self.tr("in between"), ""),
        }[piece]

    def response(self, answer: Answer) -> str:
        """Returns how fast an answer came, in a sentence or two."""
        if answer.response < 0:
            return self.tr("It started {0} before you finished.").format(seconds_words(-answer.response))
        typed, spoken = self.tr("You heard it {0} after sending."), self.tr("You heard it {0} after your last sound.")
        sentence = (typed if answer.reason == "typed" else spoken).format(seconds_words(answer.response))
        if "backend" in answer.took and answer.wait["backend"] < 0.005:
            sentence += " " + self.tr("The model answered while you were speaking, so it added no delay.")
        return sentence

    def why(self, reason: Reason | None, answer: Answer, most: Piece) -> str:
        """Returns why an answer was slow and what to do, in a sentence or two. `most`: what took longest."""
        if reason is None:
            if answer.response <= 0:
                return self.tr("It was not slow: there was nothing to wait for.")
            longest = self.tr("It was not slow. The longest part was “{0}”, {1}.")
            return longest.format(self.piece(most).name, seconds_words(answer.wait[most]))
        usually = "" if reason.usual is None else self.tr(" (usually {0})").format(seconds_words(reason.usual))
        sentence = self._slow(reason.cause).format(seconds_words(reason.seconds), reason.who, usually, reason.count)
        if reason.cause in (Cause.UNFINISHED, Cause.UNSURE):
            sentence += " " + self.tr("Without hands-free, releasing the talk button ends your turn.")
        if reason.cause is Cause.BACKEND and (reason.usual is None or reason.usual > reason.seconds / 2):
            sentence += " " + self.tr("If this keeps happening, choose a faster model.")
        return sentence

    def _slow(self, cause: Cause) -> str:
        """Returns a sentence for the time, the model or tool, the usual time, and a count."""
        return {
            Cause.FELL_BEHIND: self.tr(
                "This machine fell behind and dropped frames ({3}). Close other programs, or choose a lighter voice."
            ),
            Cause.UNFINISHED: self.tr("KAME waited {0} because your sentence sounded unfinished{2}."),
            Cause.UNSURE: self.tr("KAME waited {0} because it wasn't clear whether you had finished{2}."),
            Cause.BUTTON: self.tr(
                "You released the talk button {0} after your last sound. Release it as soon as you have finished."
            ),
            Cause.NOTICED_LATE: self.tr("It took KAME {0} to notice that you had finished{2}."),
            Cause.RECOGNITION_BEHIND: self.tr(
                "This machine was too busy to transcribe what you said, which took {0}{2}. Close other programs."
            ),
            Cause.WRITING: self.tr("Transcribing what you said took {0}{2}."),
            Cause.STARTED_LATE: self.tr(
                "One stage waited {0} for another. If this keeps happening, close other programs."
            ),
            Cause.ASKED_AGAIN: self.tr(
                "{1} was asked again because your last words changed the question, and took {0} to its first words{2}."
            ),
            Cause.FELL_BACK: self.tr(
                "Another model had failed, so {1} was asked instead, and took {0} to its first words{2}."
            ),
            Cause.SWAPPED: self.tr("You had switched the model, so {1} was asked again, which took {0}."),
            Cause.TOOL: self.tr("The tool “{1}” ran for {0} before the model could answer."),
            Cause.FIRST: self.tr(
                "{1} took {0} to its first words. It was its first answer in this conversation: a "
                "model that has just been loaded is slower once."
            ),
            Cause.BACKEND: self.tr("{1} took {0} to its first words{2}."),
            Cause.DELAY: self.tr("You set a pause of {0} before each answer. Lower “Answer delay” to hear it sooner."),
            Cause.BY_ITSELF: self.tr("The voice's own model started after {0}, without waiting for another model."),
            Cause.VOICE: self.tr("The voice took {0} from the model's first words to its first sound{2}."),
        }[cause]

    # -- the conversation

    def memory(self, context: ContextMeasured) -> str:
        """Returns how much of the conversation the front-end remembers."""
        known, most = (clock_words(round(n * FRAME_SECONDS)) for n in (context.frames, context.capacity))
        return self.tr("The voice's model remembers {0} of {1} minutes.").format(known, most)

    def frames(self, frames: FrameBudget) -> str:
        """Returns how long the frames took."""
        half, most = frames.quantile_ms(0.5), frames.quantile_ms(0.99)
        if half is None or most is None:
            return self.tr("KAME processes sound in frames of {0} ms; there were none yet.").format(FRAME_MS)
        return self.tr("Median {0} ms, 99 % within {1} ms. Late: {2}, dropped: {3}, gaps in the sound: {4}.").format(
            f"{half:.1f}", f"{most:.1f}", frames.late, frames.dropped, frames.gaps
        )
