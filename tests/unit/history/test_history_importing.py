"""Conversations from outside: ours come in whole, all others end in a sentence, and none does harm."""

import json
import os
import sys
import wave
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from app.conversation.event_json import EVENT_TYPES, checked_event, to_json
from app.conversation.prompt import LONG_DOCUMENT_BYTES, MOST_DOCUMENTS
from app.history import importing
from app.history.base import Setup
from app.history.importing import copy_sound, read
from app.history.store import HistoryStore
from app.session.control import Style, UserError
from app.untrusted.limits import Limits
from tests.support.history import MOON, kept, talk

RECORDED = ['{"format": "kame-recording", "version": 1}', *(to_json(event) for event in talk(MOON))]
EVENTS = [json.loads(to_json(event)) for event in talk(MOON)]


def document(**changes: Any) -> dict[str, Any]:
    """An exported conversation, with some of it changed."""
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


@pytest.mark.parametrize(
    ("content", "why"),
    [
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
    ],
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
    """A value that a field may hold."""
    if get_origin(hint) is Literal:
        return get_args(hint)[-1]
    if get_origin(hint) is tuple:
        return (_sample(get_args(hint)[0]),) * 2
    return {float: 2.5, int: 3, bool: True, str: "words", float | None: None}[hint]


@pytest.mark.parametrize("kind", EVENT_TYPES.values())
def test_every_event_that_can_happen_comes_in_again(kind: type) -> None:
    event = kind(**{name: _sample(hint) for name, hint in get_type_hints(kind).items()})
    assert checked_event(json.loads(to_json(event))) == event
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
