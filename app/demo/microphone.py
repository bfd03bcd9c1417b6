"""The demo's microphone, which plays recorded questions into a session."""

from __future__ import annotations

import contextlib

import numpy as np

from app.audio.devices.loudspeaker import Loudspeaker
from app.audio.io.errors import AudioError
from app.conversation.frame import SAMPLE_RATE
from app.evaluation.spoken_questions import LEAD_SECONDS, PacedAsker, Spoken


class DemoMicrophone(PacedAsker):
    """A microphone that plays the demo's questions into a session, and also on a loudspeaker where there is one."""

    name = "the demo"

    def __init__(self) -> None:
        super().__init__()
        self._aloud: Loudspeaker | None = None

    def ask(self, question: Spoken) -> float:
        """Play `question` from the next frame on; return the session time, in seconds, at which it starts."""
        asked_at = super().ask(question)
        if self._aloud is not None:
            with contextlib.suppress(AudioError):
                self._aloud.write(np.zeros(round(LEAD_SECONDS * SAMPLE_RATE), np.float32))
                self._aloud.write(question.samples)
        return asked_at

    def open_loudspeaker(self) -> None:
        """Play the questions on the loudspeaker from now on, if there is one; blocks for a moment."""
        with contextlib.suppress(AudioError):
            aloud = Loudspeaker()
            aloud.__enter__()
            self._aloud = aloud

    def __exit__(self, *exc: object) -> None:
        aloud, self._aloud = self._aloud, None
        if aloud is not None:
            with contextlib.suppress(AudioError):
                aloud.close()
        super().__exit__(*exc)
