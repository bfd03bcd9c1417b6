"""How a conversation is put together: the voice that it begins with, and the one that takes a lost front-end's
place.
"""

from types import SimpleNamespace

from app.main import _fallback, _first_voice
from app.session.control import SessionChoice, SpeechChoice, Style


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
