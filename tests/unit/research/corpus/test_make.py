"""A corpus is made step by step out of questions: scripts, speech, oracle and tokens, each of which goes on."""

import json
from pathlib import Path

import numpy as np
import pytest
import soundfile

from app.backend.base import BackendError, ChatRequest
from app.backend.scripted import ScriptedAnswer, ScriptedBackend, answer
from app.cli.parser import main
from app.research.corpus.dialogue import CorpusFolder, exchanges
from app.research.corpus.make import Asker, Prompt, make_oracle, make_scripts, make_speech, make_tokens, read_scripts
from app.research.corpus.oracle import check_dialogues
from app.research.corpus.scripts import Item, SpeakingOptions
from tests.support.scripted import ScriptedVoice
from tests.support.tiny_kame import make_checkpoint

pytestmark = pytest.mark.slow
ITEMS = [Item("a-1", "What is the capital of France?", "Paris"), Item("a-2", "How many legs has a spider?", "8")]
TURNS = {
    "France": [
        "Can you tell me which city is the capital of France, Paris or Rome?",
        "It is Paris, which has been the seat of the government for a very long time.",
        "And which river runs through it from east to west?",
        "The Seine does, and most of the old town lies on its banks.",
    ],
    "spider": [
        "I wonder how many legs a spider has, is it six or more?",
        "A spider has eight legs, two more than an insect has.",
    ],
}
GUESSES = [
    "It may be a large town in the middle of the country, near water.",
    "There are several that come to mind, but one is known best.",
    "That depends on which kind you mean, most have the same number.",
]


def reply(request: ChatRequest) -> ScriptedAnswer:
    text = request.messages[-1].content
    if "Write a short spoken dialogue" in text:
        turns = next(turns for word, turns in TURNS.items() if word in text)
        return answer("Here it is: " + json.dumps({"turns": turns}), first=0, every=0)
    hint = text.split("the answer will be “")[1].split("”")[0] if "Hint" in text else ""
    if "nearly the same words" in text:
        return answer(hint.removesuffix(".") + " indeed.", first=0, every=0)
    if "clearly different words" in text:
        return answer("In other words " + " ".join(hint.split()[:9]) + " and so on.", first=0, every=0)
    return answer(GUESSES[len(text) % 3], first=0, every=0)


def quiet(line: str) -> None:
    """Progress that nobody reads."""


async def made(folder: Path, backend: ScriptedBackend) -> CorpusFolder:
    asker = Asker(backend, folder / "answers.jsonl", at_once=2)
    await make_scripts(ITEMS, asker, folder, quiet)
    corpus = CorpusFolder(folder)
    voices = {"one": ScriptedVoice(), "two": ScriptedVoice()}
    make_speech(read_scripts(folder), corpus, ScriptedVoice(), voices, SpeakingOptions(0, 0, 0), None, quiet)
    await make_oracle(corpus, asker, quiet)
    return corpus


async def test_from_questions_to_a_corpus_that_passes_its_check(tmp_path: Path) -> None:
    backend = ScriptedBackend(reply)
    corpus = await made(tmp_path, backend)
    assert backend.most_open_streams == 2
    dialogues = list(corpus)
    result = check_dialogues(dialogues)
    assert result.ok and not result.faults, result.table()
    true = sum(event.true for dialogue in dialogues for event in dialogue.events)
    assert result.exchanges == 3 and true == 3 and result.events > 9
    samples = corpus.sound(dialogues[0])
    for question, reply_ in exchanges(dialogues[0].words):
        for utterance, channel in ((question, 1), (reply_, 0)):
            place = slice(int(utterance.start * 24_000), int(utterance.end * 24_000))
            assert np.abs(samples[place, channel]).mean() > 5 * np.abs(samples[place, 1 - channel]).mean()


async def test_a_second_run_asks_nothing_and_a_stopped_one_goes_on(tmp_path: Path) -> None:
    backend = ScriptedBackend(reply)
    await made(tmp_path, backend)
    asked = len(backend.requests)
    await made(tmp_path, backend)
    assert len(backend.requests) == asked
    lines = (tmp_path / "answers.jsonl").read_text().splitlines()
    (tmp_path / "answers.jsonl").write_text("\n".join(lines[:-2]) + "\n" + lines[-1][:20])
    for path in (tmp_path / "dialogues").glob("*.json"):
        path.unlink()
    await made(tmp_path, backend)
    assert asked < len(backend.requests) <= asked + 2


async def test_unusable_answers_are_asked_for_again_and_in_the_end_left_out(tmp_path: Path) -> None:
    tries = 0

    def bad(request: ChatRequest) -> ScriptedAnswer:
        nonlocal tries
        tries += 1
        return answer("no JSON here" if tries < 3 else json.dumps({"turns": TURNS["spider"]}), first=0, every=0)

    report = await make_scripts([ITEMS[1]], Asker(ScriptedBackend(bad), tmp_path / "c"), tmp_path, quiet)
    assert tries == 3 and report.made == 1
    report = await make_scripts([ITEMS[0]], Asker(ScriptedBackend(bad), tmp_path / "c"), tmp_path, quiet)
    assert report.made == 0 and report.left_out == {"no usable script": 1}, "spiders are no answer to that question"


async def test_a_refused_key_ends_the_asking_at_once(tmp_path: Path) -> None:
    class Refusing(ScriptedBackend):
        async def _items(self, reply):
            raise BackendError("The key was refused.", "key")
            yield

    backend = Refusing(reply)
    with pytest.raises(BackendError, match="key was refused"):
        await Asker(backend, tmp_path / "c").ask(Prompt("hello"))
    assert len(backend.requests) == 1
    with pytest.raises(BackendError, match="key was refused"):
        await make_scripts(ITEMS, Asker(backend, tmp_path / "c"), tmp_path, quiet)


def test_items_are_spoken_as_they_are_and_no_script_is_no_success(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items = tmp_path / "items.jsonl"
    items.write_text('{"question": "How many legs has a spider?", "answer": "It has eight legs."}\n')
    words = ["corpus", "make", str(tmp_path / "corpus"), "--items", str(items), "--steps", "scripts"]
    assert main([*words, "--as-they-are"]) == 0
    assert read_scripts(tmp_path / "corpus")[0].turns == ("How many legs has a spider?", "It has eight legs.")
    items.write_text('{"question": "What is 2^3?", "answer": "It is *eight*."}\n')
    assert main([*words, "--as-they-are"]) == 2
    assert "No script could be made" in capsys.readouterr().err


def test_speech_in_a_language_that_nothing_here_recognises_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("app.stt.selection.models_of", lambda kind: ())
    items = tmp_path / "items.jsonl"
    items.write_text('{"question": "Wie heißt Schwedens Hauptstadt?", "answer": "Sie heißt Stockholm."}\n', "utf-8")
    options = ["--as-they-are", "--steps", "scripts,speech", "--language", "it"]
    assert main(["corpus", "make", str(tmp_path / "corpus"), "--items", str(items), *options]) == 2
    assert "language (it)" in capsys.readouterr().err


async def test_tokens_come_out_in_shards_whose_text_is_what_was_said(tmp_path: Path) -> None:
    from app.frontend.kame.engine.checkpoint import load
    from app.models.layout import read_layout
    from app.research.corpus.tokens import Tokeniser, open_corpus

    corpus = await made(tmp_path / "corpus", ScriptedBackend(reply))
    loaded = load(read_layout(make_checkpoint(tmp_path / "weights")), device="cpu")
    make_tokens(corpus, Tokeniser(loaded), tmp_path / "shards", quiet)
    tokens = {item.shape[1]: item for item in open_corpus(tmp_path / "shards").dialogues()}
    for dialogue in corpus:
        row = tokens[len(corpus.sound(dialogue)) // 1920]
        assert row.shape[0] == 18
        said = [token for token in row[0].tolist() if token not in (0, 3)]
        words = " ".join(word.text for word in dialogue.of("model"))
        assert said == loaded.pieces.encode(words)
        assert 400 in row[-1].tolist() and (row[0] == 0).sum() > 0
        answers = [event.text for event in dialogue.events if event.true]
        told = [token for token in row[-1].tolist() if token not in (3, 400)]
        for text in answers:
            wanted = loaded.pieces.encode(text)
            assert any(told[n : n + len(wanted)] == wanted for n in range(len(told)))


async def test_the_commands_check_count_export_and_import(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    await made(tmp_path / "corpus", ScriptedBackend(reply))
    for words, expected in (
        (["check", str(tmp_path / "corpus")], "can be trained on"),
        (["export", str(tmp_path / "corpus"), str(tmp_path / "kame"), "--as", "kame"], "2 dialogues"),
        (["export", str(tmp_path / "corpus"), str(tmp_path / "moshi"), "--as", "moshi"], "2 dialogues"),
        (["import", str(tmp_path / "again"), str(tmp_path / "kame"), "--from", "kame"], "2 dialogues"),
        (
            ["import", str(tmp_path / "more"), str(tmp_path / "moshi" / "corpus.jsonl"), "--from", "moshi"],
            "2 dialogues",
        ),
        (["check", str(tmp_path / "again")], "can be trained on"),
    ):
        assert main(["corpus", *words]) == 0
        assert expected in capsys.readouterr().out
    first, second = CorpusFolder(tmp_path / "corpus"), CorpusFolder(tmp_path / "again")
    for name in first.names():
        assert np.allclose(first.sound(first.read(name)), second.sound(second.read(name)), atol=1e-4)
        assert [event.true for event in first.read(name).events] == [event.true for event in second.read(name).events]
    sound, _ = soundfile.read(tmp_path / "moshi" / "data_stereo" / f"{first.names()[0]}.wav")
    assert sound.shape[1] == 2
    assert main(["corpus", "check", str(tmp_path / "nowhere")]) == 2
    assert "no corpus" in capsys.readouterr().err
