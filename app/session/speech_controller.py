"""Replaces the recogniser or the voice of a running session: loads the new one while the old one works, then switches.

If the new one can't be loaded, a `Failure` reports it, and the old one stays in use. The latest of several changes
wins. A broken recogniser is loaded again, and replaced by the default one while it doesn't work.
"""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Generic, TypeVar

from app.conversation import events as e
from app.conversation.languages import AUTOMATIC, ENGLISH
from app.frontend.base import SetVoice
from app.models.catalogue import DEFAULTS, find_model
from app.platform.supervision import Restarts
from app.session.control import SpeechChoice, UserError
from app.session.mailbox import Message
from app.session.parts import LatestTask, SessionConfig, SessionParts, enter
from app.stt.base import Transcriber, TranscriberError
from app.stt.swappable import SwappableTranscriber
from app.tts.base import Voice, VoiceError

_T = TypeVar("_T", Transcriber, Voice)
_Key = TypeVar("_Key")
_log = logging.getLogger(__name__)


class _Exchange(Generic[_Key, _T]):
    """Loads the part that was wanted last. `has`: the key of the part in use.

    `load` returns an entered part, and `take` puts it to use. `failed` gets the key of a part that could not be loaded,
    and the reason.
    """

    def __init__(
        self,
        has: _Key,
        load: Callable[[_Key], Awaitable[_T]],
        take: Callable[[_T], None],
        failed: Callable[[_Key, Exception], None],
    ) -> None:
        self.has = self.wanted = has
        self.task = LatestTask("replace the recogniser or the voice")
        self._load: Callable[[_Key], Awaitable[_T]] = load
        self._take: Callable[[_T], None] = take
        self._failed = failed

    def want(self, key: _Key, *, again: bool = False) -> None:
        """Uses the part with this key as soon as it has loaded. `again`: even if it is in use, since it is broken."""
        if key != self.wanted or again:
            self.wanted = key
            self.task.cancel()
            if key != self.has or again:
                self.task.start(functools.partial(self._run, key))

    async def _run(self, key: _Key) -> None:
        try:
            loaded = await self._load(key)
        except Exception as error:  # an error of any kind must not end the conversation
            self.wanted = self.has
            self._failed(key, error)
        else:
            self.has = key
            self._take(loaded)


class SpeechController:
    """The recogniser and the voice of a session.

    `choice`: what is wanted; `own_voice`: the conversation's own voice, which takes precedence. `spoken`: the session's
    language, or the one detected last. `post` sends a message to the front-end, `emit` an event; `now` returns the
    session's time.
    """

    def __init__(
        self,
        parts: SessionParts,
        transcriber: SwappableTranscriber,
        config: SessionConfig,
        *,
        post: Callable[[Message], None],
        emit: Callable[[e.Event], None],
        now: Callable[[], float],
    ) -> None:
        choice, has_voice = config.choice.speech, config.first_voice
        self.choice = choice
        self.own_voice = self._asked_own = config.choice.style.voice
        self._own_worked = self.own_voice if self.own_voice == has_voice else ""
        self._parts = parts
        self._transcriber = transcriber
        self._simulated = config.pace == "simulated"
        self._post, self._emit, self._now = post, emit, now
        self._voices: list[Voice] = []  # the front-end uses the first one, and will use the others in this order
        self._leaving: set[asyncio.Task[None]] = set()
        self._over = False
        self.spoken = ENGLISH if choice.language == AUTOMATIC else choice.language
        self._told_voice = ""
        self._unspoken: set[str] = set()  # detected languages without a voice
        self._recogniser = _Exchange[str, Transcriber](
            choice.recogniser, self._load_recogniser, transcriber.take, self._recogniser_failed
        )
        self._voice = _Exchange[tuple[str, str], Voice](  # by its key, or by the language if that is empty
            (has_voice, "" if has_voice else self.spoken), self._load_voice, self._take_voice, self._voice_failed
        )
        self._restarts = Restarts(now)
        self._wanted_restarts = Restarts(now)  # while the default takes the place of the wanted recogniser
        for restarts in (self._restarts, self._wanted_restarts):
            restarts.worked()  # the first recogniser is loaded
        self._loaded_again = False  # since the recogniser last worked
        self._waiting: asyncio.TimerHandle | None = None
        self._trying: asyncio.TimerHandle | None = None
        self._replaced = False  # the default takes its place, or soon will
        transcriber.on_broken = self._load_again
        transcriber.on_changed = self._recogniser_changed
        transcriber.on_retired = self._let_go

    def begin(self) -> None:
        """Uses the conversation's own voice, if the front-end did not start with it."""
        self._told_voice = self._voice_name
        self._want_voice()

    def change_own_voice(self, voice: str) -> None:
        """Uses this voice (empty: that of `choice`). A failed one is tried again only after another one was wanted."""
        if not self._over and voice != self._asked_own:
            self.own_voice = self._asked_own = voice
            self._want_voice()

    def change(self, choice: SpeechChoice) -> None:
        """Changes to another choice, except for its language."""
        if self._over:
            return
        before, self.choice = self.choice, replace(choice, language=self.choice.language)
        if choice.recogniser != before.recogniser:
            self._replaced = False
            self._recogniser.want(choice.recogniser)
        if choice.voice != before.voice:
            self._unspoken.clear()
            self._want_voice()
        voice = self._newest_voice()
        if voice is not None and (voice.rate, voice.volume) != (choice.rate, choice.volume):
            self._tune(voice)
            self._post(SetVoice(voice))

    def heard(self, language: str) -> None:
        """Processes the language of the user's last words, a two-letter code.

        If the language is detected and no voice was chosen, the voice follows it, or the user is told once that there
        is none.
        """
        if not self._transcriber.changing:
            self._loaded_again = False
            self._restarts.worked()
            if self._recogniser.has == self.choice.recogniser:
                self._wanted_restarts.worked()
        if self._over or not language or self.choice.language != AUTOMATIC or language == self.spoken:
            return
        self.spoken = language
        self._want_voice()

    def taken(self, voices: Sequence[Voice]) -> None:
        """Records that the front-end has used these voices since its last step, one after the other.

        A voice whose name has changed is another one that speaks in its place.
        """
        for voice in voices:
            place = next(place for place, known in enumerate(self._voices) if known is voice)
            gone, self._voices = self._voices[:place], self._voices[place:]
            for old in gone:
                self._let_go(old)
        if voices or self._voice_name != self._told_voice:
            self._tell()

    async def close(self) -> None:
        """Cancels all loading, and exits the voices that the front-end does not own. No step may follow."""
        self._over = True
        for timer in (self._waiting, self._trying):
            if timer is not None:
                timer.cancel()
        await self._recogniser.task.stop()
        await self._voice.task.stop()
        while len(self._voices) > 1:
            self._let_go(self._voices.pop())
        if self._leaving:
            await asyncio.wait(self._leaving)

    async def _load_recogniser(self, key: str) -> Transcriber:
        return await self._made(self._parts.make_transcriber, replace(self.choice, recogniser=key))

    async def _load_voice(self, key: tuple[str, str]) -> Voice:
        choice = replace(self.choice, voice=key[0], language=key[1] or self.choice.language)
        return await self._made(self._parts.make_voice, choice)

    async def _made(self, make: Callable[[SpeechChoice], Awaitable[_T]] | None, choice: SpeechChoice) -> _T:
        if make is None:
            raise UserError("This conversation can't change it. Begin a new one.")
        part = await make(choice)
        await enter(part, simulated=self._simulated)
        return part

    def _load_again(self) -> None:
        """Loads a broken recogniser again: once immediately, then the default one after increasing delays."""
        if self._over or self._waiting is not None or self._recogniser.task.running:
            return
        wait = self._restarts.attempt()
        if self._loaded_again:
            self._waiting = asyncio.get_running_loop().call_later(wait, self._load_default)
        else:
            self._loaded_again = True
            self._recogniser.want(self._recogniser.has, again=True)

    def _load_default(self) -> None:
        self._waiting = None
        self._restarts.attempt()
        default, has = DEFAULTS["stt"], self._recogniser.has
        if self._recogniser.task.running:
            return  # the user has chosen another one meanwhile
        if has == default or not find_model(default).speaks(self.choice.language):
            self._recogniser.want(has, again=True)
            return
        name = self._transcriber.name
        sentence = f"Speech recognition with {name} doesn't work, so the built-in one hears you until it does."
        self._emit(e.Notice(self._now(), "stt", sentence))
        self._replaced = True
        self._recogniser.want(default)

    def _try_wanted(self) -> None:
        """Loads the wanted recogniser again, after increasing delays, while the default takes its place."""
        if self._over or not self._replaced:
            return
        if wait := self._wanted_restarts.attempt():
            self._trying = asyncio.get_running_loop().call_later(wait, self._try_wanted)
        else:
            self._recogniser.want(self.choice.recogniser)

    def _recogniser_changed(self) -> None:
        self._tell()
        if not self._replaced:
            return
        if self._recogniser.has == self.choice.recogniser:
            self._replaced = False
            sentence = f"Speech recognition with {self._transcriber.name} works again."
            self._emit(e.Notice(self._now(), "stt", sentence))
        else:
            self._wanted_restarts.attempt()  # it has just failed
            self._try_wanted()

    def _recogniser_failed(self, key: str, error: Exception) -> None:
        if self._replaced and key == self.choice.recogniser != self._recogniser.has:
            asyncio.get_running_loop().call_soon(self._try_wanted)  # the user knows that it doesn't work
            return
        if key == self._recogniser.has or self._replaced:
            self._replaced = False
            self._emit(e.Failure(self._now(), "stt", f"Speech recognition could not be loaded again. {_why(error)}"))
            asyncio.get_running_loop().call_soon(self._load_again)  # once this load has ended
            return
        self.choice = replace(self.choice, recogniser=self._recogniser.has)
        self._emit(e.Failure(self._now(), "stt", _refusal("speech recognition", self._transcriber.name, error)))

    def _voice_failed(self, key: tuple[str, str], error: Exception) -> None:
        had = self._voice.has[0]
        if self.own_voice:
            self.own_voice = self._own_worked if had == self._own_worked else ""
        elif self.choice.voice:
            self.choice = replace(self.choice, voice=had)
        else:
            self._unspoken.add(key[1])
        voice = self._newest_voice()
        name = voice.name if voice is not None else self._parts.frontend.name
        self._emit(e.Failure(self._now(), "tts", _refusal("voice", name, error)))
        if self._voice_key() != key:
            self._want_voice()  # the voice that is wanted now may not be the one in use

    # -- voices

    def _newest_voice(self) -> Voice | None:
        """Returns the voice that is in use or about to be; None if the front-end generates the speech itself."""
        if not self._voices and self._parts.frontend.voice is not None:
            self._voices.append(self._parts.frontend.voice)
        return self._voices[-1] if self._voices else None

    def _voice_key(self) -> tuple[str, str]:
        voice = self.own_voice or self.choice.voice
        return voice, "" if voice else self.spoken

    def _want_voice(self) -> None:
        if self._newest_voice() is None:  # this is for the front-end that may replace the current one
            self._voice.has = self._voice.wanted = self._voice_key()
        elif self._voice_key()[1] not in self._unspoken:
            self._voice.want(self._voice_key())

    def _take_voice(self, voice: Voice) -> None:
        self._own_worked = self.own_voice
        self._tune(voice)  # the settings may have changed while it loaded
        self._voices.append(voice)
        self._post(SetVoice(voice))

    def _tune(self, voice: Voice) -> None:
        voice.rate, voice.volume = self.choice.rate, self.choice.volume

    def _tell(self) -> None:
        self._told_voice = name = self._voice_name
        self._emit(e.SpeechChanged(self._now(), self._transcriber.name, name, self.choice.rate, self.choice.volume))

    @property
    def _voice_name(self) -> str:
        """The name of the voice that speaks; empty if the front-end has one of its own."""
        voice = self._voices[0] if self._voices else self._parts.frontend.voice
        return voice.name if voice is not None else ""

    def _let_go(self, part: Transcriber | Voice) -> None:
        """Exits a part that is no longer needed; in real time on a thread, since a child process takes time to end."""
        if self._simulated:
            part.__exit__(None, None, None)
            return
        task = asyncio.get_running_loop().create_task(_leave(part), name="let speech go")
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)


async def _leave(part: Transcriber | Voice) -> None:
    try:
        await asyncio.to_thread(part.__exit__, None, None, None)
    except Exception:
        _log.exception("%s could not be closed", part.name)


def _refusal(what: str, old: str, error: Exception) -> str:
    """Returns the message for a change that failed."""
    return f"The {what} could not be changed, and the conversation continues with {old}. The reason: {_why(error)}"


def _why(error: Exception) -> str:
    known = isinstance(error, TranscriberError | VoiceError | UserError)
    return str(error) if known else f"{type(error).__name__}: {error}. Choose another one, or try again."
