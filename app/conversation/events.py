"""Defines the events of a session: one closed union of frozen dataclasses, read by every part of the app.

Each event carries `at`, the session's time in seconds (0 is the start of the first frame).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from app.conversation.sound_processing import DeviceChange, DeviceKind

AnswerMode = Literal["after", "thinking"]
"""How the cascade answers: `after` the complete turn, or `thinking` while the user still talks."""

EndReason = Literal["complete", "superseded", "failed", "stopped"]
Source = Literal["backend", "stt", "tts", "audio", "recorder", "frontend", "session"]
About = Literal["", "backend", "cap", "unanswered", "echo"]
"""What a failure is about: a brain, what the talk may cost, a turn that this leaves unanswered, or the app hearing
itself."""


@dataclass(frozen=True, slots=True)
class SessionStarted:
    """The session runs: the parts that make it up, by name."""

    at: float
    frontend: str
    stt: str
    backend: str
    model: str
    answer_mode: AnswerMode


@dataclass(frozen=True, slots=True)
class SessionEnded:
    """The session is over; nothing follows."""

    at: float
    frames: int


@dataclass(frozen=True, slots=True)
class LevelMeasured:
    """Peak levels of one frame in dBFS, and how late its step ended. For meters; not recorded.

    `clipped`: the microphone's sound reached full scale, so its tops are cut off.
    """

    at: float
    user_dbfs: float
    assistant_dbfs: float
    late_ms: float = 0.0
    clipped: bool = False


@dataclass(frozen=True, slots=True)
class UserStarted:
    """The user began to speak; `turn` counts the user's turns from 1."""

    at: float
    turn: int


@dataclass(frozen=True, slots=True)
class UserPaused:
    """The user fell silent inside a turn; `speech_end` is when the voice was last heard."""

    at: float
    turn: int
    speech_end: float


@dataclass(frozen=True, slots=True)
class UserResumed:
    """The user went on speaking in a turn that was thought to be over; the turn is open again."""

    at: float
    turn: int


@dataclass(frozen=True, slots=True)
class UserEnded:
    """The user's turn is over. `reason` says what told so: `words`, `silence`, `button`, `input_end`,
    or that it was `typed`: then `speech_end` is `at`, and no sound belongs to it.
    """

    at: float
    turn: int
    speech_end: float
    reason: Literal["words", "silence", "button", "input_end", "typed"]


@dataclass(frozen=True, slots=True)
class UserBackchannel:
    """What the user said meant "go on" ("mhm"), and asked for no answer."""

    at: float
    turn: int
    text: str


@dataclass(frozen=True, slots=True)
class TranscriptPartial:
    """The turn's words so far. `stable` ones stay as they are; `unstable` ones may still change.

    `heard_until` is the session time of the newest sound that the words account for.
    """

    at: float
    turn: int
    stable: str
    unstable: str
    heard_until: float

    @property
    def text(self) -> str:
        """All words of the turn so far, stable and unstable."""
        return " ".join(part for part in (self.stable, self.unstable) if part)


@dataclass(frozen=True, slots=True)
class TranscriptFinal:
    """The turn's words, settled."""

    at: float
    turn: int
    text: str
    heard_until: float


@dataclass(frozen=True, slots=True)
class OracleRequested:
    """A back-end was asked for revision `revision`, on `words` of the user's words.

    `final` tells that these were the complete turn; otherwise the user was still talking. `secondary`: the brain beside
    the one that drives was asked: what it says is shown and not spoken. `language`: of the words, by its two letters,
    or empty while nobody knows it.
    """

    at: float
    revision: int
    turn: int
    backend: str
    model: str
    words: str
    final: bool
    secondary: bool = False
    language: str = "en"


@dataclass(frozen=True, slots=True)
class OraclePromoted:
    """Revision `revision`, asked for on a partial transcript, turned out to have had the complete turn."""

    at: float
    revision: int


@dataclass(frozen=True, slots=True)
class OracleDelta:
    """Whole words of a revision, as they left for the front-end."""

    at: float
    revision: int
    text: str


@dataclass(frozen=True, slots=True)
class OracleFed:
    """Words of a revision have reached the front-end at this step. `waited_ms`: since they left."""

    at: float
    revision: int
    words: int
    waited_ms: float


@dataclass(frozen=True, slots=True)
class OracleSuperseded:
    """Revision `by` has spoken its first words: revision `revision` no longer feeds the front-end.

    The order of revisions is that of their requests and hand-overs, so `by` may be the smaller number.
    """

    at: float
    revision: int
    by: int


@dataclass(frozen=True, slots=True)
class OracleEnded:
    """The stream of a revision is over, after `words` words."""

    at: float
    revision: int
    reason: EndReason
    words: int


@dataclass(frozen=True, slots=True)
class AssistantStarted:
    """The assistant's voice set in, answering `turn`."""

    at: float
    turn: int
    revision: int


@dataclass(frozen=True, slots=True)
class AssistantOpened:
    """The assistant fills the wait for its answer with a short opening ("Let me think."). Its words are said as those
    of revision 0, and are no part of the answer.
    """

    at: float
    turn: int


@dataclass(frozen=True, slots=True)
class AssistantSaid:
    """Words of the assistant that have been heard, whole.

    `glued` ones go on with the word before them, without a space (a comma that came late).
    """

    at: float
    turn: int
    text: str
    revision: int
    glued: bool = False


@dataclass(frozen=True, slots=True)
class AssistantCorrected:
    """The assistant went over to a newer revision in mid-answer: `how` it joined them."""

    at: float
    turn: int
    revision: int
    how: Literal["continued", "corrected"]


@dataclass(frozen=True, slots=True)
class AssistantHeld:
    """The assistant fell silent because the user spoke; it may yet go on."""

    at: float
    turn: int


@dataclass(frozen=True, slots=True)
class AssistantResumed:
    """The assistant goes on: what the user said was no interruption."""

    at: float
    turn: int


@dataclass(frozen=True, slots=True)
class AssistantEnded:
    """The assistant's turn is over, whole or `interrupted` by the user."""

    at: float
    turn: int
    interrupted: bool


@dataclass(frozen=True, slots=True)
class OracleCounted:
    """What revision `revision` took. Tokens `counted` by the server, or estimated; `cost` in US dollars by the price
    table, None where it has no price. `first_ms`: to its first words, None without any. `interval_ms`: the least
    time between two requests that the policy keeps with this brain now.
    """

    at: float
    revision: int
    backend: str
    model: str
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    counted: bool
    cost: float | None
    first_ms: float | None
    words_per_second: float | None
    interval_ms: float
    secondary: bool = False


@dataclass(frozen=True, slots=True)
class OracleHandedOver:
    """The secondary back-end's revision `revision` drives from now on and is no longer secondary: its words so far
    have gone to the front-end, and the rest follow.
    """

    at: float
    revision: int


@dataclass(frozen=True, slots=True)
class BackendChanged:
    """From the next revision on, this back-end answers.

    `reason`: the user has `chosen` it; it takes over for one that failed (`fallback`); the user has `handed` the voice
    over to the one at the side. `provider`, `chosen_model` and `base_url`: the brain as it was chosen.
    """

    at: float
    backend: str
    model: str
    reason: Literal["chosen", "fallback", "handed"] = "chosen"
    provider: str = ""
    chosen_model: str = ""
    base_url: str = ""


@dataclass(frozen=True, slots=True)
class SecondaryChanged:
    """From now on this back-end answers too, beside the one that drives; an empty name: none."""

    at: float
    backend: str
    model: str


@dataclass(frozen=True, slots=True)
class BackendRouted:
    """The router has chosen this back-end for `turn`, since its question is of this `kind`, as sure as `share`.

    `secondary`: it is the router at the side.
    """

    at: float
    turn: int
    kind: str
    share: float
    backend: str
    model: str
    reason: str
    secondary: bool = False


@dataclass(frozen=True, slots=True)
class ConversationConfigured:
    """How this conversation is held from now on. `temperature` None: the brain's own. `length`: of answers."""

    at: float
    provider: str
    model: str
    base_url: str
    persona: str
    temperature: float | None
    length: Literal["short", "medium", "long"]
    tools: tuple[str, ...] = ()
    voice: str = ""


@dataclass(frozen=True, slots=True)
class BudgetChanged:
    """What the conversation has cost, against the cap, in US dollars. `slow`: it is asked less often from now on;
    `stop`: brains that cost are not asked any more; `free`: all is well (again).
    """

    at: float
    stage: Literal["free", "slow", "stop"]
    spent: float
    cap: float


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """The brain uses a tool for revision `revision`; `arguments` is JSON."""

    at: float
    revision: int
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolReturned:
    """The tool has answered, or failed (`ok` false), after `seconds`; `text` is what the brain was told."""

    at: float
    revision: int
    name: str
    ok: bool
    text: str
    seconds: float


@dataclass(frozen=True, slots=True)
class AnswerModeChanged:
    """From now on the front-end answers in this manner."""

    at: float
    answer_mode: AnswerMode


@dataclass(frozen=True, slots=True)
class DialsChanged:
    """From now on the front-end waits `delay` frames before it answers, and hears the user `lead` frames late."""

    at: float
    delay: int
    lead: int


@dataclass(frozen=True, slots=True)
class OracleTaken:
    """The front-end has taken a token of `revision` at this step: `taken` so far, `waiting` for their frame."""

    at: float
    revision: int
    taken: int
    waiting: int


@dataclass(frozen=True, slots=True)
class ContextMeasured:
    """How many frames the front-end remembers, of those that it can."""

    at: float
    frames: int
    capacity: int


@dataclass(frozen=True, slots=True)
class ContextRestarted:
    """The front-end has begun a fresh stream, and was told the newest `told` frames of the talk."""

    at: float
    told: int


@dataclass(frozen=True, slots=True)
class FrontEndChanged:
    """From now on this front-end hears and speaks."""

    at: float
    frontend: str


@dataclass(frozen=True, slots=True)
class SpeechChanged:
    """From now on the recogniser `stt` hears the turns that begin, and `voice` says the clauses that begin, at this
    rate and volume; see `SessionChoice.speech`. `voice` is empty where the front-end has one of its own.
    """

    at: float
    stt: str
    voice: str
    rate: float
    volume: float


@dataclass(frozen=True, slots=True)
class Underrun:
    """The loudspeaker ran dry in mid-talk, `count` times since the last such event."""

    at: float
    count: int


@dataclass(frozen=True, slots=True)
class FramesDropped:
    """The frame loop fell behind the microphone and went on with the newest frame."""

    at: float
    frames: int


@dataclass(frozen=True, slots=True)
class SoundLost:
    """The microphone's driver lost so many frames before they reached the app."""

    at: float
    frames: int


@dataclass(frozen=True, slots=True)
class RecognitionSkipped:
    """The ears were too slow: `decodes` looks at the sound were skipped for newer ones."""

    at: float
    decodes: int


@dataclass(frozen=True, slots=True)
class DeviceChanged:
    """A microphone or loudspeaker went, came, or was exchanged; the talk goes on. See `sound.DeviceNotice`."""

    at: float
    kind: DeviceKind
    change: DeviceChange
    name: str
    sentence: str


@dataclass(frozen=True, slots=True)
class MicrophoneMuted:
    """From now on no sound of the microphone leaves the edge, or it does again."""

    at: float
    muted: bool


@dataclass(frozen=True, slots=True)
class SoundMeasured:
    """How the sound's edge does, about once a second; see `sound.SoundHealth`. Not recorded."""

    at: float
    erle_db: float | None
    echo_remains: bool
    drift_ppm: float | None
    overrun_ms: int
    underruns: int


@dataclass(frozen=True, slots=True)
class Failure:
    """Something failed. `sentence` tells the user what happened, what it means and what to do.

    `fatal` ends the session; otherwise it goes on without what failed. `provider`, `model` and `base_url`: the brain
    as it was chosen, if the user may put its key or its connection right; else empty. `secondary`: the one at the side.
    What is `about` a brain takes the place of what was said of that side before, and what is about money (`cap`,
    `unanswered`) that of what was said about money.
    """

    at: float
    source: Source
    sentence: str
    fatal: bool = False
    provider: str = ""
    model: str = ""
    base_url: str = ""
    secondary: bool = False
    about: About = ""


Event = (
    SessionStarted
    | SessionEnded
    | LevelMeasured
    | UserStarted
    | UserPaused
    | UserResumed
    | UserEnded
    | UserBackchannel
    | TranscriptPartial
    | TranscriptFinal
    | OracleRequested
    | OraclePromoted
    | OracleDelta
    | OracleFed
    | OracleSuperseded
    | OracleEnded
    | AssistantStarted
    | AssistantOpened
    | AssistantSaid
    | AssistantCorrected
    | AssistantHeld
    | AssistantResumed
    | AssistantEnded
    | OracleCounted
    | OracleHandedOver
    | BackendChanged
    | SecondaryChanged
    | BackendRouted
    | ConversationConfigured
    | BudgetChanged
    | ToolCalled
    | ToolReturned
    | AnswerModeChanged
    | DialsChanged
    | OracleTaken
    | ContextMeasured
    | ContextRestarted
    | FrontEndChanged
    | SpeechChanged
    | Underrun
    | FramesDropped
    | SoundLost
    | RecognitionSkipped
    | DeviceChanged
    | MicrophoneMuted
    | SoundMeasured
    | Failure
)
"""The closed union: read it with `match` and `typing.assert_never`."""
