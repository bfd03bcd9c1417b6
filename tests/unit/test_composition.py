"""How a conversation is put together: the voice that it begins with, and the one that takes a lost front-end's
place."""

from types import SimpleNamespace

from app.main import _fallback, _first_voice, session
from app.models.catalogue import DEFAULTS
from app.session.control import BackendChoice, SessionChoice, SpeechChoice, Style


def test_a_talk_begins_with_the_conversations_voice_or_with_the_usual_one_where_that_is_gone() -> None:
    chosen = SpeechChoice(voice="piper-joe")
    assert _first_voice(SessionChoice(speech=chosen)) == "piper-joe"
    assert _first_voice(SessionChoice(style=Style(voice="piper-joe"))) == "piper-joe"
    for gone in ("kokoro/af_heart", "nobody", "pico/de-DE"):
        assert _first_voice(SessionChoice(speech=chosen, style=Style(voice=gone))) == "piper-joe"


def test_a_lost_front_end_is_replaced_though_no_voice_is_what_was_wanted() -> None:
    choice = SessionChoice(frontend="kame", style=Style(voice="piper-joe"))
    for own, spoken in (("", "en"), ("", "de"), ("kokoro/af_heart", "de"), ("piper-joe", "de")):
        live = SimpleNamespace(choice=SpeechChoice("auto"), own_voice=own, spoken=spoken)
        frontend = _fallback(choice, live)  # type: ignore[arg-type]
        assert frontend.voice is not None and "joe" in frontend.voice.name


async def test_whoever_talks_at_the_devices_is_answered_though_their_server_is_not_there() -> None:
    choice = SessionChoice(backend=BackendChoice("compatible", "alpha", "http://127.0.0.1:1"))
    for edge, fallback in ((SimpleNamespace(), BackendChoice(model=DEFAULTS["llm"])), (None, None)):
        made = session(choice, SimpleNamespace(), SimpleNamespace(), edge=edge)  # type: ignore[arg-type]
        assert made.parts.fallback_backend == fallback
