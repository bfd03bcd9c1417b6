"""A conversation taken along: as a page, as subtitles, as sound, as JSON; whole files or none."""

import os
import re
import wave
from datetime import UTC
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from app.conversation import events as e
from app.conversation.prompt import Document
from app.history.base import ConversationView, ExportFormat, KeptTalk, Setup
from app.history.export import export, markdown
from app.history.timing import timed_turns
from app.session.control import BackendChoice, UserError
from app.session.recorder import Recorder
from tests.support.history import MOON, asked_and_answered, kept, talk
from tests.support.raising import raising


def _cues(text: str) -> list[tuple[float, float, str]]:
    """What a player reads from a file of subtitles."""
    found = []
    for number, block in enumerate(text.rstrip("\n").split("\n\n"), 1):
        head, times, *lines = block.split("\n")
        assert head == str(number) and 1 <= len(lines) <= 2 and all(len(line) <= 42 for line in lines)
        stamps = re.fullmatch(r"(\d+):(\d\d):(\d\d),(\d{3}) --> (\d+):(\d\d):(\d\d),(\d{3})", times)
        a, b, c, d, *rest = map(int, stamps.groups())
        begin, end = ((h * 60 + m) * 60 + s + t / 1000 for h, m, s, t in ((a, b, c, d), rest))
        assert begin < end
        found.append((begin, end, " ".join(lines)))
    return found


def _srt(tmp_path: Path, *talks: KeptTalk) -> list[tuple[float, float, str]]:
    export(tmp_path / "talk.srt", "srt", ConversationView("a"), talks)
    return _cues((tmp_path / "talk.srt").read_text("utf-8"))


def _record(folder: Path, seconds: float, user: float, assistant: float) -> Path:
    """A talk's sound as the recorder leaves it: each side at one level."""
    with Recorder(folder, print) as recorder:
        for _ in range(round(seconds / 0.08)):
            recorder.sound(np.full(1920, user, np.float32), np.full(1920, assistant, np.float32), 0)
    return folder


def test_a_page_tells_who_spoke_when_and_where_they_were_interrupted() -> None:
    first = asked_and_answered(1, 2.0, MOON[0], "It is *very* far away, and", "big_model", interrupted=True)
    second = asked_and_answered(2, 70.0, "1. Stop & _listen_.", "", "")
    view = ConversationView("a", "The *moon*", True, 1_700_000_000.0, 0.0, 3, ("big_model",))
    page = markdown(view, [(1_700_000_000.0, timed_turns(first + second)), (1_700_003_600.0, timed_turns(first))], UTC)
    assert page.startswith(
        "# The \\*moon\\*\n\n2023-11-14 22:13 · with big\\_model\n\n## Talk 1 · 2023-11-14 22:13\n\n"
        f"**You** · 0:02\n\n{MOON[0]}\n\n**KAME** (big\\_model) · 0:04\n\n"
        "It is *very* far away, and — *interrupted at 0:06*\n\n**You** · 1:10\n\n1\\. Stop \\& \\_listen\\_.\n\n"
        "## Talk 2 · 2023-11-14 23:13\n\n"
    )


def test_a_page_marks_what_an_edited_question_has_replaced() -> None:
    first = [*asked_and_answered(1, 2.0, "Who?", "I."), *asked_and_answered(2, 10.0, "When?", "Now.")]
    second = [e.BranchChosen(0.0, 1, 1), *asked_and_answered(1, 2.0, "Where?", "Here.")]
    page = markdown(ConversationView("a"), [(0.0, timed_turns(first)), (9.0, timed_turns(second))], UTC)
    marked = [line for line in page.split("\n") if line.startswith("**")]
    assert ["replaced" in line for line in marked] == [False, False, True, True, False, False]
    assert all(words in page for words in ("Who?", "When?", "Now.", "Where?", "Here.")), "nothing is left out"


def test_subtitles_show_both_sides_when_they_spoke(tmp_path: Path) -> None:
    long = "One two three, four five six seven. " * 8
    events = [*asked_and_answered(1, 1.0, *MOON), *asked_and_answered(2, 10.0, long.strip(), "Yes --> no.")]
    cues = _srt(tmp_path, KeptTalk(0.0, tuple(events)))
    assert cues[0] == (1.0, pytest.approx(3.0), "You: How far away is the moon tonight?")
    assert cues[1][2] == "KAME: Some 384,000 kilometres, give or take."
    answered = max(event.at for event in events if event.at < 9)
    assert 3.5 < cues[1][0] < 4.2 and cues[1][1] == pytest.approx(answered, abs=0.05)
    mine = [cue for cue in cues if cue[2].startswith("You:")][1:]
    assert " ".join(text.removeprefix("You: ") for _, _, text in mine) == long.strip()
    assert all(a[1] <= b[0] + 0.001 for a, b in pairwise(mine)) and len(mine) >= 6
    for begin, end, _ in mine:
        assert end - begin <= 7.0
    # Each word was told 0.3 s after the one before it: a cue begins when its first word was said.
    said = 10.0
    for begin, _, text in mine:
        assert begin == pytest.approx(said, abs=0.45)
        said += 0.3 * (len(text.split()) - 1)
    assert cues[-1][2] == "KAME: Yes → no."


def test_a_pause_of_the_voice_is_no_subtitle(tmp_path: Path) -> None:
    events = [
        e.AssistantStarted(1.0, 1, 1),
        e.AssistantSaid(1.5, 1, "Well,", 1),
        e.AssistantHeld(1.6, 1),
        e.AssistantResumed(20.0, 1),
        e.AssistantSaid(20.5, 1, "as I said,", 1),
        e.AssistantSaid(20.6, 1, "!", 1, True),
        e.AssistantEnded(21.0, 1, False),
    ]
    first, second = _srt(tmp_path, KeptTalk(0.0, tuple(events)))
    assert first[2] == "KAME: Well," and first[1] < 2.5
    assert second[2] == "KAME: as I said,!" and 18.0 < second[0] < 20.0


def test_sound_and_subtitles_of_all_talks_are_on_one_clock(tmp_path: Path) -> None:
    said = tuple(asked_and_answered(1, 0.0, "Hello?", "Hi."))
    talks = (
        KeptTalk(0.0, said, _record(tmp_path / "one", 4.0, 0.25, -0.5)),
        KeptTalk(9.0, (*said, e.SessionEnded(3.0, 37))),  # no sound was kept
        KeptTalk(99.0, said, _record(tmp_path / "two", 3.2, 0.5, 0.125)),
    )
    (tmp_path / "two" / "user.wav").unlink()
    sentence = export(tmp_path / "talk.wav", "wav", ConversationView("a"), talks)
    assert str(tmp_path / "talk.wav") in sentence
    with wave.open(str(tmp_path / "talk.wav")) as file:
        assert (file.getnchannels(), file.getframerate(), file.getsampwidth()) == (2, 24_000, 2)
        both = np.frombuffer(file.readframes(file.getnframes()), "<i2").reshape(-1, 2)
    assert len(both) == round((4.0 + 3.0 + 3.2) * 24_000)
    for second, (user, assistant) in ((1.0, (8192, -16384)), (3.0, (8192, -16384)), (5.0, (0, 0)), (8.0, (0, 4096))):
        assert tuple(both[round(second * 24_000)]) == (user, assistant)
    begins = [begin for begin, _, text in _srt(tmp_path, *talks) if text == "You: Hello?"]
    assert begins == [0.0, 4.0, 7.0]


NOTES = Document("notes.txt", "The mill belongs to Ada.", 3)


async def test_json_holds_everything_but_no_passwords_and_comes_in_again(tmp_path: Path) -> None:
    backend = BackendChoice("compatible", "big", "https://me:secret@example.org/v1?key=secret")
    setup = Setup(backend, cap=2.5, documents=(NOTES,))
    events = [
        *talk(MOON),
        e.BackendChanged(8.0, "Server", "big", "chosen", "compatible", "big", "http://u:secret@h/v1"),
        e.Failure(9.0, "backend", "No. \ud800", False, "compatible", "big", "http://u:secret@h/v1"),
    ]
    async with kept(tmp_path) as history:
        for n in range(2):
            log = history.begin("a", setup)
            for event in events:
                log.put(event)
            log.end()
            await history.rename("a", "Title" * n)
        await history.export("a", tmp_path / "a.json", "json")
        assert b"secret" not in (tmp_path / "a.json").read_bytes()
        view = await history.bring_in(tmp_path / "a.json")
        (old,) = [one for one in await history.conversations() if one.key == "a"]
        assert view.key != "a" and (view.title, view.named, view.turns) == ("Title", True, 4)
        assert view.created == old.created and view.setup == Setup(documents=(NOTES,), foreign=True)
        for was, now in zip(await history.talks("a"), await history.talks(view.key), strict=True):
            assert now.began == was.began and now.events[:-2] == was.events[:-2]
            assert now.events[-2].base_url == now.events[-1].base_url == "http://h/v1"
            assert now.events[-1].sentence == "No. \ufffd"
        assert {one.key for one in await history.conversations("moon")} == {"a", view.key}


async def test_there_is_no_sound_where_none_was_kept(tmp_path: Path) -> None:
    async with kept(tmp_path) as history:
        history.begin("a", Setup()).put(e.TranscriptFinal(0.2, 1, "Hello.", 0.2))
        with pytest.raises(UserError, match="No sound was kept"):
            await history.export("a", tmp_path / "a.wav", "wav")
        with pytest.raises(UserError, match="not there any more"):
            await history.export("b", tmp_path / "a.json", "json")
    assert os.listdir(tmp_path) == ["history.sqlite3"]


@pytest.mark.parametrize("form", ["markdown", "json", "srt", "wav"])
def test_a_file_is_whole_or_not_there(form: ExportFormat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sound = _record(tmp_path / "sound", 1.0, 0.1, 0.1)
    talks = (KeptTalk(0.0, tuple(talk(MOON)), sound),)
    path = tmp_path / "out" / "file"
    with pytest.raises(UserError, match="can't be written"):
        export(path, form, ConversationView("a"), talks)
    path.parent.mkdir()
    path.write_text("before")
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", raising(OSError(28, "No space left on device")))
        with pytest.raises(UserError, match="No space left on device"):
            export(path, form, ConversationView("a"), talks)
    assert path.read_text() == "before" and os.listdir(path.parent) == ["file"]
    export(path, form, ConversationView("a"), talks)
    assert path.stat().st_size > 100 and os.listdir(path.parent) == ["file"]


def test_sound_that_can_not_be_read_is_told(tmp_path: Path) -> None:
    sound = _record(tmp_path / "sound", 2.0, 0.1, 0.1)
    (sound / "user.wav").write_bytes(b"RIFF no sound at all" * 50)
    export(tmp_path / "a.wav", "wav", ConversationView("a"), (KeptTalk(0.0, tuple(talk(MOON)), sound),))
    with wave.open(str(tmp_path / "a.wav")) as file:  # what can be read is there
        both = np.frombuffer(file.readframes(24_000), "<i2").reshape(-1, 2)
    assert not both[:, 0].any() and both[:, 1].all()
