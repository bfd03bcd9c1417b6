"""Conversations come in and are taken along: ours whole, all others end in a sentence, and none does harm."""

import json
import os
import re
import sys
import wave
from datetime import UTC
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest

from app.conversation import events as e
from app.conversation.event_json import EVENT_TYPES, checked_event, read_event, to_json
from app.conversation.prompt import LONG_DOCUMENT_BYTES, MOST_DOCUMENTS, Document
from app.history import importing
from app.history.base import ConversationView, ExportFormat, KeptTalk, Setup
from app.history.export import export, markdown
from app.history.importing import copy_sound, read
from app.history.store import HistoryStore
from app.history.timing import timed_turns
from app.session.control import BackendChoice, Style, UserError
from app.session.recorder import Recorder
from app.untrusted.limits import Limits
from tests.support.history import MOON, asked_and_answered, kept, talk
from tests.support.raising import raising
from tests.support.tables import cases

RECORDED = ['{"format": "kame-recording", "version": 1}', *(to_json(event) for event in talk(MOON))]
EVENTS = [json.loads(to_json(event)) for event in talk(MOON)]


def document(**changes: Any) -> dict[str, Any]:
    return {
        "format": "kame-conversation",
        "version": 2,
        "title": "",
        "created": 5.0,
        "setup": {},
        "talks": [{"began": 5.0, "events": EVENTS}],
    } | changes


def _with_event(**event: Any) -> dict[str, Any]:
    return document(talks=[{"began": 5.0, "events": [*EVENTS, event]}])


DEEP = "[" * 200_000 + "]" * 200_000


@cases(
    "content, why",
    (b"\xff\xfe\x00", "no text"),
    (b"{", "no valid JSON"),
    pytest.param(DEEP.encode(), "nested deeper than 24 levels", id="deep"),
    (b"[]", "not of the form that is expected"),
    (b'{"format": ["kame-conversation"]}', "no conversation that KAME"),
    (document(version=3), "another version"),
    (document(version=None), "its version makes no sense"),
    (document(title=7), "title"),
    (document(created="today"), "date"),
    (document(talks={}), "talks"),
    (document(talks=[{"began": None, "events": []}]), "talk 1"),
    (document(talks=[]), "Nothing was said"),
    (document(talks=[{"began": 1.0, "events": EVENTS[:1]}]), "Nothing was said"),
    (document(setup=[]), "how it was held"),
    (document(setup={"documents": [{"name": "a", "text": 1}]}), "how it was held"),
    (document(setup={"virus": 1}), "how it was held"),
    (_with_event(at=1.0), "without a type"),
    (_with_event(type="UserStarted", at="1", turn=1), "UserStarted with a wrong “at”"),
    (_with_event(type="UserStarted", at=-1.0, turn=1), "UserStarted at -1.0"),
    (_with_event(type="UserStarted", at=1.0, turn=2**60), "wrong “turn”"),
    (_with_event(type="UserStarted", at=1.0), "field missing"),
    (_with_event(type="UserStarted", at=1.0, turn=1, **{"__class__": "x"}), "wrong “__class__”"),
    (_with_event(type="UserEnded", at=1.0, turn=1, speech_end=1.0, reason="boredom"), "wrong “reason”"),
)
def test_what_is_no_conversation_is_refused_with_a_sentence(content: Any, why: str, tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    with pytest.raises(UserError, match=why) as told:
        read(path)
    assert "talk.json" in str(told.value) and "Choose a" in str(told.value) and len(str(told.value)) < 300


def test_events_of_another_version_are_passed_over(tmp_path: Path) -> None:
    routed = {"type": "BackendRouted", "at": 1.0, "turn": 1, "kind": "stem", "share": 0.9, "reason": "so it is"}
    exported, recorded = tmp_path / "talk.json", tmp_path / "recorded"
    exported.write_text(json.dumps(_with_event(**routed)))
    recorded.mkdir()
    lines = [{"format": "kame-recording", "version": 1}, routed, *EVENTS]
    (recorded / "events.jsonl").write_text("\n".join(map(json.dumps, lines)) + "\n")
    for path in (exported, recorded):
        assert [json.loads(to_json(event)) for event in read(path).talks[0].events] == EVENTS


def test_sizes_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "talk.json"
    path.write_text(json.dumps(document()))
    for name, most, why in (
        ("CONVERSATION", Limits(1000), "longer than 1000 bytes"),
        ("MOST_EVENTS", 10, "more than 10 events"),
        ("MOST_TURNS", 1, "more than 1 turns"),
        ("MOST_WORDS", 1, "more than 1 words"),
        ("MOST_ANSWERS", 0, "more than 0 answers"),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(importing, name, most)
            with pytest.raises(UserError, match=why):
                read(path)
    assert len(read(path).talks) == 1
    with pytest.raises(UserError, match="can't be read"):
        read(tmp_path / "missing.json")


def _sample(hint: Any) -> Any:
    if get_origin(hint) is Literal:
        return get_args(hint)[-1]
    if get_origin(hint) is tuple:
        return (_sample(get_args(hint)[0]),) * 2
    return {float: 2.5, int: 3, bool: True, str: "words", float | None: None}[hint]


@pytest.mark.parametrize("kind", EVENT_TYPES.values())
def test_every_event_that_can_happen_comes_in_again(kind: type) -> None:
    event = kind(**{name: _sample(hint) for name, hint in get_type_hints(kind).items()})
    assert checked_event(json.loads(to_json(event))) == read_event(to_json(event)) == event
    with pytest.raises(ValueError, match="wrong"):
        checked_event(json.loads(to_json(event)) | {"at": []})


def test_what_it_says_about_how_to_go_on_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    setup = {
        "backend": {"provider": "compatible", "model": "m", "base_url": "http://evil.example/v1"},
        "style": {"persona": "A pirate.", "temperature": 9.0, "length": "long"},
        "tools": {"names": ["files", "clock", "mcp:shell"], "folders": ["/"]},
        "cap": -1.0,
    }
    path.write_text(json.dumps(document(setup=setup, title="  A\nb \ud800" + "x" * 500)))
    imported = read(path)
    assert imported.setup == Setup(style=Style("A pirate."), foreign=True), "only what is offered"
    setup["style"]["persona"] = "Be kind. " * 1_000
    path.write_text(json.dumps(document(setup=setup)))
    assert len(read(path).setup.style.persona) <= 600, "no more than is shown"
    assert imported.title.startswith("A b \ufffdxx") and len(imported.title) == 200


def test_documents_come_in_without_folders_and_no_longer_than_they_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    long = {"name": "/home/me/long.txt", "text": "word \ud800 " * 20_000, "cut": -3}
    path.write_text(json.dumps(document(setup={"documents": [long] * 9})))
    documents = read(path).setup.documents
    assert len(documents) == MOST_DOCUMENTS and {(one.name, one.cut) for one in documents} == {("long.txt", 0)}
    assert len(documents[0].text.encode()) <= LONG_DOCUMENT_BYTES and documents[0].text.startswith("word \ufffd word")


def _sound(path: Path, seconds: float = 1.0) -> None:
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, 24_000, 0, "NONE", ""))
        file.writeframes(b"\1\0" * round(24_000 * seconds))


async def test_a_recorded_talk_comes_in_with_its_sound_and_goes_with_it(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "events.jsonl").write_text("\n".join([*RECORDED, '{"type":"UserSta']))
    _sound(folder / "user.wav")
    _sound(folder / "assistant.wav")
    (folder / "diary.txt").write_text("private")
    recordings = tmp_path / "recordings"
    history = HistoryStore(tmp_path / "history.sqlite3", recordings)
    try:
        view = await history.bring_in(folder)
        assert (view.title, view.turns, view.sound) == (MOON[0], 2, True)
        (told,) = await history.talks(view.key)
        assert told.events == tuple(talk(MOON)) and told.folder.parent == recordings
        assert sorted(path.name for path in told.folder.iterdir()) == ["assistant.wav", "user.wav"]
        await history.remove([view.key])
        await history.purge()
        assert not told.folder.exists() and (folder / "user.wav").exists()
        ours = recordings / "talk"  # what the app itself has recorded is taken where it is, but once only
        folder.rename(ours)
        first, second = await history.bring_in(ours), await history.bring_in(ours)
        folders = [(await history.talks(view.key))[0].folder for view in (first, second)]
        assert folders[0] == ours.resolve() and folders[1] != ours
        await history.remove([first.key])
        await history.purge()
        assert not ours.exists() and (await history.talks(second.key))[0].folder == folders[1]
    finally:
        await history.close()


def test_a_folder_that_is_there_already_keeps_what_is_in_it(tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.mkdir()
    (there / "mine.txt").write_text("mine")
    with pytest.raises(UserError, match="can't be copied"):
        copy_sound(tmp_path, there)
    assert (there / "mine.txt").read_text() == "mine"


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes among files there")
async def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    os.mkfifo(tmp_path / "talk.json")
    os.mkfifo(folder / "events.jsonl")
    async with kept(tmp_path) as history:
        for path in (tmp_path / "talk.json", folder):
            with pytest.raises(UserError, match="a pipe or a device"):
                await history.bring_in(path)
        (folder / "events.jsonl").unlink()
        (folder / "events.jsonl").write_text("\n".join(RECORDED))
        os.mkfifo(folder / "user.wav")
        assert not (await history.bring_in(folder)).sound
        _sound(folder / "assistant.wav")
        view = await history.bring_in(folder)
        (told,) = await history.talks(view.key)
        assert view.sound and [one.name for one in told.folder.iterdir()] == ["assistant.wav"]


async def test_a_folder_without_a_talk_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    async with kept(tmp_path) as history:
        with pytest.raises(UserError, match="holds no recorded talk"):
            await history.bring_in(folder)
        (folder / "events.jsonl").write_text(f"{RECORDED[0]}\nnot JSON\nat all\n")
        with pytest.raises(UserError, match="line 2 of it is not an event"):
            await history.bring_in(folder)
        (folder / "events.jsonl").write_text(
            f'{RECORDED[0]}\n{{"type":"UserStarted","at":0,"turn":"one"}}\n{RECORDED[1]}\n'
        )
        with pytest.raises(UserError, match="wrong “turn”"):
            await history.bring_in(folder)
        (folder / "events.jsonl").write_text("\n".join(RECORDED))
        view = await history.bring_in(folder)
        assert not view.sound and not (tmp_path / "recordings").exists()
        assert [one.key for one in await history.conversations()] == [view.key] and view.setup == Setup(foreign=True)


def _cues(text: str) -> list[tuple[float, float, str]]:
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
