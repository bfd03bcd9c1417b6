"""The composition root: the only module that names concrete classes and assembles sessions."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from app.audio.io.base import AudioError, AudioSink, AudioSource, DuplexAudio
from app.backend import key_names
from app.backend.base import Backend, BackendError
from app.conversation.languages import AUTOMATIC, ENGLISH
from app.conversation.turns.endpointing import PauseLengths
from app.frontend import PROVIDERS as FRONT_ENDS
from app.frontend import FrontEndOptions, make_frontend
from app.frontend.base import FrontEnd, FrontEndError, SetDials
from app.models.catalogue import DEFAULTS, FRONTEND_WEIGHTS, HUB, ModelError, find_model
from app.models.layout import read_layout
from app.models.locations import folder_of
from app.models.pool import MODELS
from app.platform import nvidia
from app.services import backends
from app.services.api_keys import api_key
from app.session.control import BackendChoice, Progress, SessionChoice, SpeechChoice, Style, UserError
from app.session.parts import Pace, SessionConfig, SessionParts
from app.session.recorder import KEPT_SECONDS, Recorder, RecorderError
from app.session.session import Session
from app.session.speech_controller import SpeechController
from app.settings.declarations import Settings
from app.settings.kept_state import keep_pauses, load_pauses
from app.settings.paths import echoes_path, recordings_folder, servers_path
from app.stt import make_transcriber
from app.stt.base import Transcriber, TranscriberError
from app.stt.selection import recogniser_card_bytes
from app.tts.base import Voice, VoiceError
from app.untrusted.http import origin

if TYPE_CHECKING:
    from app.demo.base import DemoOrder
    from app.demo.service import DemoService
    from app.services.backend_service import BackendService
    from app.tools.consent import Policy

USER_ERRORS = (AudioError, BackendError, FrontEndError, RecorderError, TranscriberError, VoiceError, ModelError)
"""Exceptions for problems that the user can fix; `str(error)` is a user-facing message."""


def frontend(choice: SessionChoice, *, real_time: bool = True) -> FrontEnd:
    """Creates the chosen front-end without entering its context. `real_time`: see `FrontEndOptions`.

    Raises FrontEndError or VoiceError.
    """
    from app.tts.voices import make_voice

    model, speech = choice.model, choice.speech
    weights = Path(model.weights) if model.weights else None
    if weights is None and choice.frontend in FRONTEND_WEIGHTS:
        weights = folder_of(find_model(choice.frontend))
    reserved = 0
    if choice.frontend in FRONTEND_WEIGHTS:
        MODELS.drop("stt")  # frees card memory held by unused models before the free memory is measured
        reserved = recogniser_card_bytes(speech.recogniser, speech.language)
    options = FrontEndOptions(
        make_voice=functools.partial(
            make_voice, _first_voice(choice), speech.language, speech.rate, speech.volume, first=True
        ),
        answer_mode=choice.answer_mode,
        openings=choice.openings,
        weights=weights,
        language=ENGLISH if speech.language == AUTOMATIC else speech.language,
        precision=model.precision,
        device=model.device,
        context=model.context,
        reserved=reserved,
        real_time=real_time,
        dials=SetDials(model.delay, model.lead),
        server=choice.server,
        server_key=voice_server_key(choice.server) if choice.frontend == "remote" else "",
    )
    return make_frontend(choice.frontend, options)


def voice_server_key(address: str) -> str:
    """Returns the key for a voice server, which is looked up like that of any custom server; empty if there is none.

    Raises FrontEndError if the address is invalid.
    """
    from app.frontend.remote.address import read_address

    return api_key(key_names("compatible", f"http://{read_address(address).shown}"))


def _first_voice(choice: SessionChoice) -> str:
    """Returns the voice that a session starts with: the conversation's own, or the chosen one if it is unavailable."""
    from app.tts.voices import choose_voice

    if own := choice.style.voice:
        try:
            choose_voice(own, choice.speech.language)
        except VoiceError:
            return choice.speech.voice
    return own or choice.speech.voice


def _fallback(choice: SessionChoice, speech: SpeechController) -> FrontEnd:
    """Creates the cascade that takes over if the chosen front-end fails. Raises VoiceError.

    If the language is detected automatically, uses a voice for the last detected language, if available.
    """
    choice = dataclasses.replace(choice, frontend="cascade", speech=speech.choice, style=Style(voice=speech.own_voice))
    if speech.choice.language == AUTOMATIC and not _first_voice(choice):
        with contextlib.suppress(VoiceError):
            return frontend(
                dataclasses.replace(choice, speech=dataclasses.replace(speech.choice, language=speech.spoken))
            )
    return frontend(choice)


def session(
    choice: SessionChoice,
    source: AudioSource,
    sink: AudioSink,
    *,
    pace: Pace = "real",
    end_with_input: bool = True,
    backend: Backend | None = None,
    made_frontend: FrontEnd | None = None,
    edge: DuplexAudio | None = None,
    remember_seconds: float = 0.0,
    tools_first: bool = False,
    consent: Policy = "refuse",
) -> Session:
    """Creates a session that reads from `source` and plays to `sink`. Its context must be entered on the running loop.

    - `pace`, `end_with_input`, `remember_seconds`, `tools_first`, `consent`: see `SessionConfig`.
    - `backend`, `made_frontend`: used instead of those that `choice` specifies.
    - `edge`: the audio devices, if a person is using them. Without it, the user's pause lengths are neither loaded nor
      saved.

    Raises the exceptions in `USER_ERRORS`.
    """
    from app.stt.silero import SileroVoiceActivity

    loop = asyncio.get_running_loop()
    made: list[Session] = []

    def report_recording(sentence: str) -> None:
        loop.call_soon_threadsafe(lambda: made[0].report_recording(sentence))

    voice_activity = SileroVoiceActivity()

    def prepare() -> None:
        _import_client()
        voice_activity.load()

    parts = SessionParts(
        frontend=made_frontend or frontend(choice, real_time=pace == "real"),
        transcriber=make_transcriber(choice.speech.recogniser, choice.speech.language, loop.call_soon_threadsafe),
        voice_activity=voice_activity,
        backend=backend or backends.backend(choice.backend, choice.speech.language),
        source=source,
        sink=sink,
        edge=edge,
        recorder=Recorder(Path(choice.record_folder), report_recording) if choice.record_folder else None,
        make_backend=functools.partial(backends.backend_off_loop, language=choice.speech.language),
        make_tools=backends.tools,
        keep_always=backends.allow_always,
        make_transcriber=functools.partial(_transcriber_off_loop, loop.call_soon_threadsafe),
        make_voice=_voice_off_loop,
        cost=backends.cost,
        records=backends.RECORDS,
        fallback=lambda: _fallback(choice, made[0].speech),
        prepare=prepare,
    )
    pauses = PauseLengths()
    if edge is not None:  # a person at the devices rather than a file
        parts.keep_pauses, pauses = keep_pauses, load_pauses()
        parts.fallback_backend = BackendChoice(model=DEFAULTS["llm"])
    if choice.frontend == "cascade":
        parts.fallback = None
    config = SessionConfig(
        choice=choice,
        pace=pace,
        first_voice=_first_voice(choice),
        pauses=pauses,
        end_with_input=end_with_input,
        remember_seconds=remember_seconds,
        tools_first=tools_first,
        consent=consent,
    )
    made.append(Session(parts, config))
    return made[0]


async def device_session(choice: SessionChoice, progress: Callable[[Progress], None]) -> Session:
    """Starts a session on the machine's audio devices (a `SessionFactory`). Raises UserError."""
    from app.audio.devices.duplex import DeviceDuplexAudio
    from app.audio.echo.store import EchoStore

    try:
        # On a worker thread, since this asks the graphics card's driver; done first, since it may fail.
        voice = await asyncio.to_thread(frontend, choice)
        edge = DeviceDuplexAudio(
            choice.microphone,
            choice.loudspeaker,
            choice.processing,
            muted=choice.muted,
            required=False,
            echoes=EchoStore(echoes_path()),
        )
        made = session(
            choice,
            edge.source,
            edge.sink,
            end_with_input=False,
            backend=await backends.backend_off_loop(choice.backend, choice.speech.language),
            made_frontend=voice,
            edge=edge,
            remember_seconds=KEPT_SECONDS,
            consent="ask",
        )
        made.parts.progress = progress
        await made.__aenter__()
        return made
    except USER_ERRORS as error:
        raise UserError(str(error)) from error


async def _transcriber_off_loop(call_soon: Callable[[Callable[[], None]], object], speech: SpeechChoice) -> Transcriber:
    """Creates a transcriber on a worker thread, without entering its context. Raises TranscriberError."""
    return await asyncio.to_thread(make_transcriber, speech.recogniser, speech.language, call_soon)


async def _voice_off_loop(speech: SpeechChoice) -> Voice:
    """Creates a voice on a worker thread, without entering its context. Raises VoiceError."""
    from app.tts.voices import make_voice

    return await asyncio.to_thread(make_voice, speech.voice, speech.language, speech.rate, speech.volume)


def _import_client() -> None:
    """Imports the HTTP and OpenAI clients. Slow, so it must not run on the event loop's thread."""
    import httpx  # noqa: F401  # before `openai`, which inspects it
    import openai  # noqa: F401


def missing_weights(settings: Settings, frontend: str) -> str:
    """Returns a user-facing message if weights of `frontend` are missing, otherwise an empty string."""
    if frontend not in FRONTEND_WEIGHTS or settings.weights_folder:
        return ""  # the user's own folder; missing files are reported on loading
    model = find_model(frontend)
    try:
        read_layout(folder_of(model), quickly=True)
        return ""
    except ModelError:
        pass
    words = f"{model.label}'s weights ({model.bytes / 1e9:.0f} GB) are not on this machine."
    if not nvidia.has_driver():
        words += " It also has no NVIDIA graphics card, which they need."
    return words


def hub_token(address: str) -> str:
    """Returns the user's access token for the Hugging Face Hub or a mirror of it; empty if there is none.

    The hub's own token is only for the hub. A mirror has a key of its own, as a server has.
    """
    return api_key("HF_TOKEN" if origin(address) == origin(HUB) else key_names("compatible", address))


def make_demo_service(aloud: bool, service: BackendService | None = None) -> DemoService:
    """Creates the demo's service.

    `aloud`: whether audio is played, if there is a loudspeaker. `service`: the back-end service, by default a new one.
    """
    from app.demo.service import DemoService
    from app.services.backend_service import BackendService

    return DemoService(session, device_session, service or BackendService(), USER_ERRORS, aloud=aloud)


def open_window(report_start: Path | None = None, order: DemoOrder | None = None, *, hidden: bool = False) -> int:
    """Shows the window and returns its exit code. Raises UserError if no window can be opened.

    - `report_start`: see `app.gui.window.start_report`
    - `order`: the demo to show, if any
    - `hidden`: whether to start in the system tray, or minimised if there is none
    """
    import sys

    from app.platform.display import window_obstacle

    if obstacle := window_obstacle():
        raise UserError(obstacle)

    from app.audio.devices.list_process import list_current_devices
    from app.audio.devices.watch import DeviceWatch
    from app.diagnostics.logs import log_folder, start_logging
    from app.diagnostics.report import Diagnostics
    from app.gui.controllers.context import WindowServices
    from app.gui.logs.qt_messages import qt_logged
    from app.gui.shell.instance import Instance
    from app.gui.state.choice import WindowChoices
    from app.gui.window.app import leave, run_window
    from app.gui.window.start_report import StartReport
    from app.history.database import history_path
    from app.history.store import HistoryStore
    from app.models.pool import MODELS
    from app.platform import autostart
    from app.services.asking_service import AskingService
    from app.services.backend_service import BackendService
    from app.services.graphics_service import GraphicsService
    from app.services.machine_service import MachineService
    from app.services.model_service import ModelService
    from app.services.sound_service import SoundTestService
    from app.services.updates import UpdateService
    from app.tools.server_list import read_list

    report = StartReport(report_start) if report_start is not None else None

    def devices() -> tuple[list[str], list[str]]:
        found = list_current_devices()
        return [d.name for d in found if d.inputs], [d.name for d in found if d.outputs]

    service, graphics = BackendService(), GraphicsService()
    servers = read_list(servers_path())
    choices = WindowChoices(
        frontends=tuple((key, spec.label) for key, spec in FRONT_ENDS.items() if spec.make is None),
        backends=service.providers,
        mcp_servers=servers.usable,
        weighty=tuple(key for key, spec in FRONT_ENDS.items() if spec.weights),
    )
    settings = Settings.load()
    settings.notice = " ".join(filter(None, (settings.notice, servers.notice, backends.price_table()[1])))
    with start_logging(log_folder(), stream=sys.stderr) as log, qt_logged(log.flush), MODELS.keeping():
        diagnostics = Diagnostics(settings, log.entries)
        services = WindowServices(
            list_devices=devices,
            choices=choices,
            missing_weights=functools.partial(missing_weights, settings),
            backend_service=service,
            sound_service=SoundTestService(),
            machine=MachineService(settings, graphics),
            graphics=graphics,
            log=log,
            diagnose=diagnostics.text,
            watch=diagnostics.apply,
            models=ModelService(lambda: settings.weights_mirror, hub_token),
            updates=UpdateService(),
            start_at_login=autostart,
            asking=AskingService(),
            demo=make_demo_service(order is None or order.aloud, service),
        )
        code = run_window(
            device_session,
            settings,
            services,
            history=lambda: HistoryStore(history_path(), recordings_folder()),
            watch_devices=DeviceWatch,
            instance=Instance(),
            order=order,
            report=report,
            hidden=hidden,
            argv=sys.argv[:1],
        )
    return leave(code)
