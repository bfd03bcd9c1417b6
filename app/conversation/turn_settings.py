"""Times and limits by which the turn tracker decides."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.conversation.voice import VoiceSettings


@dataclass(frozen=True, slots=True)
class TurnSettings:
    """Times in seconds. What counts as voice, and as an interruption, is in `voice`.

    `pause_seconds` is one window of silence. `patience` in [-1, 1] shifts how long a pause must last to end the turn: 0
    as fitted, 1 longest. `ask_again`: silences after which the end of the turn is judged again, because the judge can
    tell more from a longer silence. `unready_seconds`: a turn whose answer is not ready ends no sooner than after this
    silence, when an opening is nearly due; a user who goes on before that has not been cut off. `answer_seconds`: a
    user who says "yes" over the assistant and goes on this soon after it has begun an answer.

    A far voice that was heard over the assistant, or right behind the user's turn, is still somebody else's when the
    assistant falls silent, until it has paused for `far_seconds`.

    A long turn is likely to have more sentences: after `long_voice_seconds` of voice it ends no sooner than after a
    silence of `long_seconds`, before which its answer is seldom ready anyway. Chosen on the odd questions of MT-Bench,
    spoken by two synthetic voices: an answer would be heard in a rest of 28 of 52 turns instead of 35; of the even
    ones, of 25 instead of 29. Of the callers' sentences 3 to 7 % are as long: what people need is not known.

    A user who makes a sound over the assistant for `backchannel_seconds` interrupts it if the recogniser finds words in
    it; if it finds none, as in laughter, the assistant goes on. If a slow recogniser has reported nothing by
    `wordless_seconds`, the sound interrupts.
    """

    voice: VoiceSettings = field(default_factory=VoiceSettings)
    pause_seconds: float = 0.032
    patience: float = 0.0
    ask_again: tuple[float, ...] = (0.16, 0.3, 0.5)
    unready_seconds: float = 0.66
    far_seconds: float = 2.0
    long_voice_seconds: float = 5.0
    long_seconds: float = 0.5
    reopen_seconds: float = 1.6
    backchannel_seconds: float = 0.9
    hold_silence: float = 0.72
    answer_seconds: float = 1.5
    wordless_seconds: float = 1.6


TAP_SECONDS = 0.3
"""A talk button that was down for less, without a voice, was only tapped. Nobody can say a word in this time."""
TYPED_SILENCE_SECONDS = 0.2
"""After a typed turn, a voice opens a turn only once there has been this much silence."""
LEARNED_PAUSES = (0.15, 2.4)
"""Seconds. Shorter silences belong to words (a stop consonant closes for 0.1 s), longer ones to something else."""
COVERED_SECONDS = 0.05
"""Words that reach this close to the voice's end hold all that was said."""
WORDLESS_SECONDS = 0.5
"""The recogniser must have heard this much of a sound before its finding no words counts."""
WORDED_LOOKS = 2
"""Decodes in a row that must find words in a sound that goes on: a single one may mistake a laugh for words."""
