"""Defines the events of a session: one closed union of frozen dataclasses, read by every part of the app.

Each event carries `at`, the session's time in seconds (0 is the start of the first frame).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

DeviceKind = Literal["microphone", "loudspeaker"]

DeviceChange = Literal["absent", "lost", "moved", "back", "note", "muted"]
"""`absent`: there has been no such device so far; `lost`: there is none until one appears; `moved`: the conversation
continues with another device; `back`: the chosen device is in use again, or the first one has appeared; `note`:
something about the device that the user should know."""


@dataclass(frozen=True, slots=True)
class Processing:
    """How the microphone's sound is processed. `echo`: cancel the app's own voice; `noise`: suppress steady noise;
    `gain`: amplify quiet voices.
    """

    echo: bool = True
    noise: bool = False
    gain: bool = False


USUAL_PROCESSING = Processing()
"""The default."""


@dataclass(frozen=True, slots=True)
class DeviceNotice:
    """A change of a device, with a sentence for the user. `name`: the device in use from now on, empty for none."""

    kind: DeviceKind
    change: DeviceChange
    name: str
    sentence: str


@dataclass(frozen=True, slots=True)
class SoundHealth:
    """State of the audio path, measured over the last seconds; counts are since the conversation began.

    `erle_db`: echo return loss enhancement, by how much the canceller reduces the app's own voice (None: not measured
    yet, or no echo). `echo_remains`: the residual echo may be mistaken for the user. `drift_ppm`: how much faster the
    loudspeaker's clock runs than the microphone's (None: not known yet). `overrun_ms`: sound of the microphone that was
    lost; `underruns`: gaps in what was played.
    """

    erle_db: float | None = None
    echo_remains: bool = False
    drift_ppm: float | None = None
    overrun_ms: int = 0
    underruns: int = 0


AnswerMode = Literal["after", "thinking"]
"""How the cascade answers: `after` the complete turn, or `thinking`: while the user still speaks."""

SpeechRule = Literal[
    "complete turn",
    "chosen back-end",
    "in use",
    "whole question",
    "same beginning",
    "restated",
    "not asked",
    "another turn",
    "incomplete turn",
    "newer request",
    "other words",
    "unconfirmed",
    "no words",
    "next clause",
    "synthesis",
    "answer due",
    "opened before",
    "model thinks",
    "all said",
]
"""The rule by which the voice speaks or waits.

It speaks a revision that answers the `complete turn`, that comes from the `chosen back-end`, that is `in use` already,
or, before the turn's last word is known, one that answers a `whole question` or has the `same beginning` as the
revision before it. If two revisions have `restated` the question alike, it says that much of them.

It waits if the turn was `not asked` about yet; if the newest revision belongs to `another turn`, answers an
`incomplete turn` or `other words` than were heard, is followed by a `newer request`, or is `unconfirmed` by a second
one; and while there are `no words`, no `next clause`, or no `synthesis` of it. A long wait isn't filled with an opening
while the `answer due` soon is awaited, or if the last answer had one (`opened before`). It says once that the
`model thinks` if that takes long. `all said` ends the answer.
"""

EndReason = Literal["complete", "superseded", "failed", "stopped"]
Source = Literal["backend", "stt", "tts", "audio", "recorder", "frontend", "session"]
About = Literal["", "backend", "cap", "unanswered", "echo"]
"""What a failure is about: a back-end, the cost cap, a turn that the cap leaves unanswered, or the app's own echo."""


@dataclass(frozen=True, slots=True)
class SessionStarted:
    """The session runs with these parts, by name."""

    at: float
    frontend: str
    stt: str
    backend: str
    model: str
    answer_mode: AnswerMode


@dataclass(frozen=True, slots=True)
class SessionEnded:
    """The session is over; no event follows."""

    at: float
    frames: int


@dataclass(frozen=True, slots=True)
class LevelMeasured:
    """Peak levels of one frame in dBFS, and how late its step ended. For meters; not recorded.

    `clipped`: the microphone's sound reached full scale.
    """

    at: float
    user_dbfs: float
    assistant_dbfs: float
    late_ms: float = 0.0
    clipped: bool = False


@dataclass(frozen=True, slots=True)
class BranchChosen:
    """The user's next turn follows turn `turn` and its answer; the models get no more of what was said after these.

    - `back`: how many sessions of the conversation ago that was; 0: in this one.
    - `turn`: 0 if the next turn takes the place of the conversation's first one.
    """

    at: float
    back: int
    turn: int


@dataclass(frozen=True, slots=True)
class UserStarted:
    """The user started to speak; `turn` counts the user's turns from 1."""

    at: float
    turn: int


@dataclass(frozen=True, slots=True)
class TalkTapped:
    """The talk button was only tapped: it was down for a moment in which nothing was said, so there was no turn. An
    answer that was being spoken or prepared is silenced.
    """

    at: float


@dataclass(frozen=True, slots=True)
class UserPaused:
    """The user fell silent within a turn; `speech_end` is the end of the speech."""

    at: float
    turn: int
    speech_end: float


@dataclass(frozen=True, slots=True)
class UserResumed:
    """The user continued to speak in a turn that seemed to be over; the turn is open again."""

    at: float
    turn: int


@dataclass(frozen=True, slots=True)
class UserEnded:
    """The user's turn is over, by its `words`, by `silence`, by the talk `button` or by `input_end`; or it was `typed`:
    then `speech_end` is `at`, and it has no sound.
    """

    at: float
    turn: int
    speech_end: float
    reason: Literal["words", "silence", "button", "input_end", "typed"]


@dataclass(frozen=True, slots=True)
class UserBackchannel:
    """The user said a backchannel ("mhm"), which needs no answer."""

    at: float
    turn: int
    text: str


@dataclass(frozen=True, slots=True)
class TranscriptPartial:
    """The turn's words so far: the `stable` ones stay as they are, the `unstable` ones may still change.

    `heard_until` is the session time of the newest sound that was transcribed.
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
    """The turn's final words."""

    at: float
    turn: int
    text: str
    heard_until: float


@dataclass(frozen=True, slots=True)
class OracleRequested:
    """A back-end was asked for revision `revision`, on these `words` of the user's.

    `final`: they are the complete turn; otherwise the user is still speaking. `secondary`: the secondary back-end was
    asked, whose answer is shown and not spoken. `language`: two letters, or empty if unknown.
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
    """Revision `revision`, requested on a partial transcript, turned out to cover the complete turn."""

    at: float
    revision: int


@dataclass(frozen=True, slots=True)
class OracleDelta:
    """Whole words of a revision, as they leave for the front-end."""

    at: float
    revision: int
    text: str


@dataclass(frozen=True, slots=True)
class OracleThought:
    """What the model thought before it gave the first words of revision `revision`. It is neither spoken nor kept as
    part of the answer; `text` is its beginning.
    """

    at: float
    revision: int
    text: str


@dataclass(frozen=True, slots=True)
class OracleFed:
    """Words of a revision have reached the front-end at this step, `waited_ms` after they left."""

    at: float
    revision: int
    words: int
    waited_ms: float


@dataclass(frozen=True, slots=True)
class OracleSuperseded:
    """Revision `by` has its first words, so revision `revision` no longer feeds the front-end.

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
    """The assistant started to speak in answer to `turn`."""

    at: float
    turn: int
    revision: int


@dataclass(frozen=True, slots=True)
class AssistantOpened:
    """The assistant fills the wait for its answer with a short opening ("Let me think."). Its words belong to revision
    0, and are not part of the answer.
    """

    at: float
    turn: int


@dataclass(frozen=True, slots=True)
class AssistantSaid:
    """Whole words of the assistant that have been played.

    - `glued`: they continue the word before them without a space (a comma that came late).
    - `begin`, `end`: the characters of the revision's text that they stand for, which are none for words of the voice's
      own, such as a bridge; -1 if unknown.
    """

    at: float
    turn: int
    text: str
    revision: int
    glued: bool = False
    begin: int = -1
    end: int = -1


@dataclass(frozen=True, slots=True)
class SpeechDecided:
    """What the voice does from now on while it has the floor, and by which rule.

    - `revision`: the one that it says or waits for; 0 if there is none.
    - `words`: how many words at the start of the clause only restate the question, if that is the rule.
    """

    at: float
    turn: int
    action: Literal["wait", "opening", "clause", "end"]
    rule: SpeechRule
    revision: int = 0
    words: int = 0


@dataclass(frozen=True, slots=True)
class AssistantCorrected:
    """The assistant switched to a newer revision in mid-answer; `how` it joined the two."""

    at: float
    turn: int
    revision: int
    how: Literal["continued", "corrected"]


@dataclass(frozen=True, slots=True)
class AssistantHeld:
    """The assistant fell silent because the user spoke; it may still continue."""

    at: float
    turn: int


@dataclass(frozen=True, slots=True)
class AssistantResumed:
    """The assistant continues: what the user said was no interruption."""

    at: float
    turn: int


@dataclass(frozen=True, slots=True)
class AssistantEnded:
    """The assistant's turn is over, complete or `interrupted` by the user."""

    at: float
    turn: int
    interrupted: bool


@dataclass(frozen=True, slots=True)
class OracleCounted:
    """The usage of revision `revision`. Tokens are `counted` by the server, or estimated; `cost` is in US dollars by
    the price table, None where it has no price. `first_ms`: until its first words, None without any. `interval_ms`:
    the minimum time between two requests to this back-end under the current policy.
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
    """The secondary back-end's revision `revision` drives from now on.

    The words that it has so far went to the front-end, and the rest follows. It keeps its number and is the newest.
    """

    at: float
    revision: int


@dataclass(frozen=True, slots=True)
class BackendChanged:
    """From the next revision on, this back-end answers.

    `reason`: the user has `chosen` it, it replaces one that failed (`fallback`), or the user has `handed` over to the
    secondary back-end. `provider`, `chosen_model` and `base_url`: as it was chosen.
    """

    at: float
    backend: str
    model: str
    reason: Literal["chosen", "fallback", "handed"] = "chosen"
    provider: str = ""
    chosen_model: str = ""
    base_url: str = ""


@dataclass(frozen=True, slots=True)
class ChangeRefused:
    """A change that was asked for could not be made; the session continues with what it had.

    `part` is what was to be changed. `sentence` says why and what to do. `provider`, `model` and `base_url` name the
    back-end that was chosen; empty if the user can't fix it, and for tools.
    """

    at: float
    part: Literal["backend", "secondary", "tools"]
    sentence: str
    provider: str = ""
    model: str = ""
    base_url: str = ""


@dataclass(frozen=True, slots=True)
class SecondaryChanged:
    """From now on this is the secondary back-end; an empty name: there is none."""

    at: float
    backend: str
    model: str


@dataclass(frozen=True, slots=True)
class ConversationConfigured:
    """The settings of this conversation from now on. `temperature` None: the model's own. `length`: of answers.
    `given`: how many words of each document the model gets with its requests.
    """

    at: float
    provider: str
    model: str
    base_url: str
    persona: str
    temperature: float | None
    length: Literal["short", "medium", "long"]
    tools: tuple[str, ...] = ()
    voice: str = ""
    given: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ConversationTitled:
    """A back-end has given the conversation a title, in a request of its own."""

    at: float
    title: str
    backend: str
    model: str


@dataclass(frozen=True, slots=True)
class BudgetChanged:
    """What the conversation has cost, against the cap, in US dollars. `slow`: fewer requests from now on; `stop`: no
    more requests that cost; `free`: no restriction.
    """

    at: float
    stage: Literal["free", "slow", "stop"]
    spent: float
    cap: float


@dataclass(frozen=True, slots=True)
class ToolCalled:
    """The model calls a tool for revision `revision`; `arguments` is JSON."""

    at: float
    revision: int
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolReturned:
    """The tool has answered, or failed (`ok` false), after `seconds`; `text` is what the model got."""

    at: float
    revision: int
    name: str
    ok: bool
    text: str
    seconds: float


ConsentBy = Literal["voice", "typed", "button", "words", "withdrawn"]
"""What answered the question for consent: a spoken or typed yes, a button, or other `words`, which are a no. It was
`withdrawn` if it no longer matters.
"""


@dataclass(frozen=True, slots=True)
class ConsentAsked:
    """The answer to `turn` ends with a question, since revision `revision` needs consent to call `tools`.

    - `arguments`: the JSON of each call; `effects`: what each tool may do, as in `app.tools.base.Effect`.
    """

    at: float
    revision: int
    turn: int
    tools: tuple[str, ...]
    arguments: tuple[str, ...]
    effects: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConsentAnswered:
    """The user has allowed the calls that were asked for in the answer to `turn`, or not, and by what."""

    at: float
    turn: int
    allowed: bool
    by: ConsentBy


@dataclass(frozen=True, slots=True)
class CallNotMade:
    """The model wanted this call for revision `revision`. It needs the user's consent, but the user can't be asked."""

    at: float
    revision: int
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class AnswerModeChanged:
    """From now on the front-end answers in this mode."""

    at: float
    answer_mode: AnswerMode


@dataclass(frozen=True, slots=True)
class DialsChanged:
    """From now on the front-end waits `delay` frames before it answers, and gets the user's sound `lead` late."""

    at: float
    delay: int
    lead: int


@dataclass(frozen=True, slots=True)
class OracleTaken:
    """The front-end has consumed a token of `revision` at this step: `taken` so far, `waiting` for their frame."""

    at: float
    revision: int
    taken: int
    waiting: int


@dataclass(frozen=True, slots=True)
class ContextMeasured:
    """How many frames are in the front-end's context, and how many it can hold."""

    at: float
    frames: int
    capacity: int


@dataclass(frozen=True, slots=True)
class ContextRestarted:
    """The front-end has started a new stream, with the newest `told` frames of the conversation as its context."""

    at: float
    told: int


@dataclass(frozen=True, slots=True)
class FrontEndChanged:
    """From now on this front-end listens and speaks."""

    at: float
    frontend: str


@dataclass(frozen=True, slots=True)
class ServerDescribed:
    """A server elsewhere hears and speaks for this session. `sentence` says what it can do, and what it can't."""

    at: float
    server: str
    sentence: str


@dataclass(frozen=True, slots=True)
class SpeechChanged:
    """From now on `stt` transcribes new turns, and `voice` speaks new clauses at this rate and volume. `voice` is empty
    if the front-end has its own voice.
    """

    at: float
    stt: str
    voice: str
    rate: float
    volume: float


@dataclass(frozen=True, slots=True)
class Underrun:
    """The loudspeaker ran out of sound, `count` times since the last such event."""

    at: float
    count: int


@dataclass(frozen=True, slots=True)
class FramesDropped:
    """The frame loop fell behind the microphone, dropped `frames` frames and continued with the newest one."""

    at: float
    frames: int


@dataclass(frozen=True, slots=True)
class SoundLost:
    """The microphone's driver lost `frames` frames."""

    at: float
    frames: int


@dataclass(frozen=True, slots=True)
class RecognitionSkipped:
    """Speech recognition was too slow: `decodes` updates were skipped for newer ones."""

    at: float
    decodes: int


@dataclass(frozen=True, slots=True)
class DeviceChanged:
    """A microphone or loudspeaker disappeared, came back or was replaced; the conversation continues."""

    at: float
    kind: DeviceKind
    change: DeviceChange
    name: str
    sentence: str


@dataclass(frozen=True, slots=True)
class MicrophoneMuted:
    """From now on the microphone is muted, or no longer muted."""

    at: float
    muted: bool


@dataclass(frozen=True, slots=True)
class SoundMeasured:
    """The state of the echo canceller and the devices, about once a second. Not recorded."""

    at: float
    erle_db: float | None
    echo_remains: bool
    drift_ppm: float | None
    overrun_ms: int
    underruns: int


@dataclass(frozen=True, slots=True)
class Failure:
    """Something failed. `sentence` tells the user what happened, what it means and what to do.

    `fatal` ends the session; otherwise it continues without what failed. `provider`, `model` and `base_url`: the
    back-end as it was chosen, if the user can correct its key or connection; else empty. `secondary`: it is the
    secondary back-end. A failure `about` a back-end replaces an earlier one about the same back-end, and one about
    money (`cap`, `unanswered`) an earlier one about money.
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


@dataclass(frozen=True, slots=True)
class Notice:
    """Something has changed by itself, such as a part that was started again, and the conversation continues.

    `sentence` says so. The user needn't do anything.
    """

    at: float
    source: Source
    sentence: str


Event = (
    SessionStarted
    | SessionEnded
    | LevelMeasured
    | BranchChosen
    | UserStarted
    | TalkTapped
    | UserPaused
    | UserResumed
    | UserEnded
    | UserBackchannel
    | TranscriptPartial
    | TranscriptFinal
    | OracleRequested
    | OraclePromoted
    | OracleDelta
    | OracleThought
    | OracleFed
    | OracleSuperseded
    | OracleEnded
    | AssistantStarted
    | AssistantOpened
    | AssistantSaid
    | SpeechDecided
    | AssistantCorrected
    | AssistantHeld
    | AssistantResumed
    | AssistantEnded
    | OracleCounted
    | OracleHandedOver
    | BackendChanged
    | ChangeRefused
    | SecondaryChanged
    | ConversationConfigured
    | ConversationTitled
    | BudgetChanged
    | ToolCalled
    | ToolReturned
    | ConsentAsked
    | ConsentAnswered
    | CallNotMade
    | AnswerModeChanged
    | DialsChanged
    | OracleTaken
    | ContextMeasured
    | ContextRestarted
    | FrontEndChanged
    | ServerDescribed
    | SpeechChanged
    | Underrun
    | FramesDropped
    | SoundLost
    | RecognitionSkipped
    | DeviceChanged
    | MicrophoneMuted
    | SoundMeasured
    | Failure
    | Notice
)
"""The closed union: read it with `match` and `typing.assert_never`."""
