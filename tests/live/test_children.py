"""The app's child processes: the voice and the embedded back-end come up, do their work, and never outlive it."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.audio.devices.list_process import ListProcess
from app.backend import make_backend
from app.backend.base import BackendError, ChatRequest, StreamItem
from app.backend.embedded import EmbeddedBackend
from app.conversation.prompt import ChatMessage, build_prompt
from app.conversation.words import fold
from app.models.locations import default_model
from app.models.pool import MODELS
from app.platform import children, nvidia
from app.research.benches.recordings import word_distance
from app.services.documents import read_pdf
from app.session.control import UserError
from app.stt import text_endpointing
from app.tts import child_voice
from app.tts.base import VoiceError
from app.tts.child_voice import ChildVoice, Speaker
from app.tts.voices import make_voice
from tests.support.read_back import transcribe
from tests.support.tiny_voice import TINY_VOICE

ROOT = Path(__file__).resolve().parents[2]


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().split(")")[1][:3]
    except (ProcessLookupError, FileNotFoundError):
        return False


@pytest.mark.slow
def test_a_voice_says_what_it_is_given_and_leaves_its_child_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_voice, "_CLIP_SECONDS", 60.0)  # a busy machine is not stuck
    text = "Yesterday the children walked to school, because the weather was warm and sunny."
    with MODELS.keeping():
        with make_voice() as voice:
            child = voice.process
            clip = voice.synthesize(text).result(20)
            again = voice.synthesize("Yes.")
            cancelled = voice.synthesize("This is never said.")
            cancelled.cancel()
            assert len(again.result(20).words) == 1
            # It is left in mid-sentence.
            begun = voice.synthesize("This is begun, and it goes on for a while, but it is heard by nobody at all.")
            while not begun.running() and not begun.done():
                time.sleep(0.001)
            waiting = voice.synthesize("This one is never begun.")
        assert waiting.cancelled()
        with make_voice() as voice:
            assert voice.process == child
            spoken = voice.synthesize("Good morning, everybody.").result(20)
    assert not _alive(child)
    words = fold(text)
    assert word_distance(words, fold(transcribe(clip.samples))) <= 1
    assert [word.text for word in clip.words] == text.split()
    assert all(a.end == b.start for a, b in zip(clip.words, clip.words[1:], strict=False))
    # Cut where the seventh word should begin, the recogniser hears the six before it.
    half = np.concatenate([clip.samples[: clip.words[6].start], np.zeros(12_000, np.float32)])
    assert word_distance(words[:6], fold(transcribe(half))) <= 1
    assert np.abs(clip.samples[:480]).max() > 0.01, "a clip begins with silence"
    assert fold(transcribe(spoken.samples)) == fold("Good morning everybody")


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGSTOP])
def test_a_voice_that_dies_or_hangs_is_started_again(sign: signal.Signals, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_voice, "speak_seconds", lambda text: 1e6)  # one that hangs is known by its silence
    with ChildVoice(TINY_VOICE) as voice:
        voice.synthesize("One.").result(20)
        first = voice.process
        os.kill(first, sign)
        clip = voice.synthesize("Two.").result(60)
        assert len(clip.samples) > 1000 and clip.notice.startswith("The voice had stopped and was started again: ")
        assert voice.process != first and not _alive(first)


def test_a_clip_is_there_with_its_first_part_and_grows_while_it_is_played() -> None:
    with ChildVoice(TINY_VOICE, volume=0.5) as voice:
        clip = voice.synthesize("One two wait four.", growing=True).result(20)
        early = clip.filled
        assert not clip.complete and [word.text for word in clip.words] == ["One", "two", "wait", "four."]
        other = voice.synthesize("Five six.").result(20)
        assert clip.complete and other.complete and len(other.samples) < len(clip.samples)
        assert (
            4000 < early < len(clip.samples) <= 4 * 4800 + 24_000 and 0.04 < np.abs(clip.samples[early:]).max() < 0.06
        )
        assert voice.synthesize("Seven.", growing=True).result(20).complete


def test_a_clip_that_nobody_wants_any_more_is_not_finished() -> None:
    with ChildVoice(TINY_VOICE) as voice:
        clip = voice.synthesize(" ".join(["One", *["wait"] * 20]), growing=True).result(20)
        began = time.monotonic()
        clip.unwanted = True
        following = voice.synthesize("Five six.").result(20)
        assert time.monotonic() - began < 4 and following.complete and not clip.complete


def test_a_voice_that_dies_in_mid_clip_ends_it_with_a_sentence_and_says_the_next_one() -> None:
    with ChildVoice(TINY_VOICE) as voice:
        clip = voice.synthesize("One two wait end five.", growing=True).result(20)
        following = voice.synthesize("Five six.").result(60)
        assert clip.complete and [word.text for word in clip.words] == ["One", "two", "wait"]
        assert clip.problem.startswith("The voice has stopped: its process ended with exit code 3.")
        assert following.complete and not following.problem


def test_another_voice_speaks_while_the_wanted_one_stays_broken(tmp_path: Path) -> None:
    broken, lasting = tmp_path / "broken", Speaker("no such", "tests.support.no_such_voice", (), TINY_VOICE.file)
    wanted = replace(TINY_VOICE, name="wanted", arguments=(str(tmp_path),), label="Joe")
    other = replace(TINY_VOICE, name="other", label="Alba")
    threads = threading.active_count()
    with ChildVoice(wanted, others=(lasting, other)) as voice:
        assert voice.synthesize("One.").result(60).notice == "" and voice.name == "wanted"
        broken.touch()
        clip = voice.synthesize("Two.").result(60)
        assert len(clip.samples) > 1000, "no sentence is left out"
        assert clip.notice == (
            "The voice Joe doesn't work (its process ended with exit code 3), so Alba speaks until it does."
        )
        assert voice.name == "other" and voice.synthesize("Three.").result(60).notice == ""
        broken.unlink()
        while voice.name == "other":
            clip = voice.synthesize("Four.").result(60)
            assert len(clip.samples) > 1000
        assert clip.notice == "The voice Joe works again, and speaks from now on." and voice.name == "wanted"
    assert threading.active_count() == threads


def test_another_voice_speaks_if_the_first_one_of_a_session_cannot_be_started(tmp_path: Path) -> None:
    (tmp_path / "broken").touch()
    wanted, threads = replace(TINY_VOICE, arguments=(str(tmp_path),), label="Joe"), threading.active_count()
    with pytest.raises(VoiceError, match="could not be started"), ChildVoice(wanted, others=(TINY_VOICE,)):
        pass
    with ChildVoice(wanted, others=(replace(TINY_VOICE, label="Alba"),), first=True) as voice:
        clip = voice.synthesize("One.").result(60)
        assert len(clip.samples) > 1000 and "Joe doesn't work" in clip.notice and "Alba speaks" in clip.notice
    assert threading.active_count() == threads


STOPS = "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"
no_stop = pytest.mark.skipif(sys.platform == "win32", reason="a process can't be stopped there")


@pytest.mark.parametrize("code", [pytest.param("pass", id="ends"), pytest.param(STOPS, id="stops", marks=no_stop)])
def test_a_voice_that_fails_while_it_starts_is_started_once_more(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real, commands = children.python_module_command, [[sys.executable, "-c", code]]
    monkeypatch.setattr(children, "python_module_command", lambda *a: commands.pop() if commands else real(*a))
    with ChildVoice(TINY_VOICE) as voice:
        assert len(voice.synthesize("One.").result(60).samples) > 1000
    commands += [[sys.executable, "-c", "pass"]] * 2
    with pytest.raises(VoiceError, match="could not be started"), ChildVoice(TINY_VOICE):
        pass


@pytest.mark.slow
async def test_a_backend_whose_request_has_failed_is_not_kept() -> None:
    with MODELS.keeping():
        pids = []
        for failing in (True, False):
            backend = make_backend("embedded")
            await backend.open()
            pids.append(backend.served.pid)
            if failing:
                with pytest.raises(BackendError):  # more than its context holds
                    async with backend.stream(ChatRequest((ChatMessage("user", "word " * 2500),), 3, 0.0)) as deltas:
                        async for _ in deltas:
                            pass
            await backend.close()
        assert pids[0] != pids[1]
    assert not any(map(_alive, pids))


async def test_an_embedded_model_that_is_killed_is_started_again_and_asked_again() -> None:
    backend = EmbeddedBackend()
    request = ChatRequest(
        build_prompt([], 1, "What is the capital of France?", persona=backend.traits.persona), 30, 0.0
    )
    with MODELS.keeping():
        await backend.open()
        first = backend.served.pid
        os.kill(first, signal.SIGKILL)
        async with backend.stream(request) as items:
            assert "Paris" in await _all_of(items)
        second = backend.served.pid
        assert second != first and not _alive(first)
        await backend.close()
        again = EmbeddedBackend()  # takes over the new child
        await again.open()
        assert again.served.pid == second
        await again.close()
        await again.close()  # twice is fine
    assert not _alive(second)


@pytest.mark.slow  # it is started again as the voice and the language model are
@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGSTOP])
def test_a_judge_that_dies_or_hangs_is_started_again(sign: signal.Signals, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_endpointing.TextEndpointing, "ASK_SECONDS", 5.0)
    judge = text_endpointing.open_judge(default_model("llm"))
    before = judge.odds("What is the capital of")
    os.kill(judge._child.pid, sign)
    judge._known.clear()
    assert judge.odds("What is the capital of") == before and judge.alive()
    judge.close()


async def _all_of(deltas: AsyncIterator[StreamItem]) -> str:
    return "".join([item async for item in deltas if isinstance(item, str)])


async def test_a_missing_voice_or_model_and_a_broken_one_are_sentences(tmp_path: Path) -> None:
    model = tmp_path / "model.gguf"
    with (
        pytest.raises(VoiceError, match="not installed"),
        ChildVoice(Speaker("piper such", "app.tts.piper_worker", (str(model),), model)),
    ):
        pass
    with pytest.raises(BackendError, match="There is no model file"):
        await EmbeddedBackend(model).open()
    model.write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(BackendError, match="could not be started"):
        await EmbeddedBackend(model).open()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of a Unix")
async def test_children_end_when_the_app_is_killed() -> None:
    program = """
import asyncio, time
from app.backend import make_backend
from app.tts.child_voice import ChildVoice
from tests.support.tiny_voice import TINY_VOICE

async def main():
    backend = make_backend("embedded")
    await backend.open()
    with ChildVoice(TINY_VOICE) as voice:
        print(backend.served.pid, voice.process, flush=True)
        time.sleep(60)

asyncio.run(main())
"""
    parent = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    children = [int(pid) for pid in parent.stdout.readline().split()]
    assert len(children) == 2 and all(map(_alive, children))
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    for _ in range(100):
        if not any(map(_alive, children)):
            break
        await asyncio.sleep(0.05)
    assert not any(map(_alive, children))


SECRETS = "OPENAI_API_KEY HF_TOKEN KAME_KEY_SERVER NVIDIA_API_KEY AWS_SECRET_ACCESS_KEY PYTHON_PASSWORD".split()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_no_child_of_the_app_is_given_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All kinds of children, as they are started in earnest, though with models that none can load for long; what each
    was given is read while it runs."""
    for name in SECRETS:
        monkeypatch.setenv(name, f"secret-of-{name}")
    monkeypatch.setenv("HTTPS_PROXY", "http://ann:secret-of-the-proxy@127.0.0.1:9")
    given: dict[str, bytes] = {}

    class Watched(subprocess.Popen):  # type: ignore[type-arg]
        def __init__(self, command: list[str], **options: object) -> None:
            super().__init__(command, **options)  # type: ignore[call-overload]
            if command[0] != sys.executable:  # a library's own, such as “uname”
                return
            module = command[command.index("-m") + 1] if "-m" in command else Path(command[-1]).name
            block = b""
            while not block and self.poll() is None:  # the system writes it a moment after the program was loaded
                block = Path(f"/proc/{self.pid}/environ").read_bytes()
            given[module] = block

    monkeypatch.setattr(subprocess, "Popen", Watched)
    broken = tmp_path / "broken"
    broken.write_bytes(bytes(100))
    with pytest.raises(BackendError):
        await EmbeddedBackend(broken).open()
    with pytest.raises(VoiceError), ChildVoice(Speaker("piper", "app.tts.piper_worker", (str(broken),), broken)):
        pass
    with pytest.raises(children.ChildError):
        text_endpointing.open_judge(broken)
    ListProcess().stop()
    with pytest.raises(UserError):
        read_pdf(tmp_path / "no.pdf", "no.pdf", 100)
    nvidia._ask_child((), 20)
    assert set(given) == {
        "app",
        "app.backend.embedded_server",
        "app.services.documents",
        "app.stt.text_endpointing_worker",
        "app.tts.piper_worker",
        "nvidia.py",
    }
    assert not [module for module, block in given.items() if b"secret-of-" in block]
    assert all(b"PATH=" in block for block in given.values())
