"""Nano KAME's corpus: what is to be said depends on what has arrived, and the tokens are those of a session."""

import json
import random
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
import torch

from app.frontend.kame.engine.checkpoint import build_lm
from app.frontend.kame.engine.engine import Engine
from app.research.corpus.dialogue import TimedRevision, TimedWord, Vocabulary, oracle_row
from app.research.nano.voice_codec import VoiceCodec, VoiceCodecShape
from app.research.training.nano.answers import CORRECTIONS, LENGTH, AnswerPlan, SpeechBank
from app.research.training.nano.dialogues import DialogueMaker, SpokenQuestion
from app.research.training.nano.facts import RELATIONS, Fact, draw_fact, held_out
from app.research.training.nano.start import NANO_LM
from app.research.training.nano.trial import run_trials, says, write_sounds
from tests.support.tables import cases
from tests.support.tiny_kame import pieces_model

pytestmark = pytest.mark.slow
SHAPE = VoiceCodecShape(own_books=8, heard_books=4, entries=32, own_components=16, heard_components=12)
VOCABULARY = Vocabulary(padding=3, start=400)
WORD = 5  # frames


def speak(text: str, rate: float) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """Each word takes five frames, of which the last is silent."""
    words = text.split()
    latents = np.random.default_rng(len(text)).standard_normal((7 * WORD * len(words), 192)).astype(np.float32)
    return latents, [(7 * WORD * n, 7 * (WORD * n + WORD - 1)) for n in range(len(words))]


@pytest.fixture(scope="module")
def pieces():
    return sentencepiece.SentencePieceProcessor(model_proto=pieces_model())


@pytest.fixture(scope="module")
def codec() -> VoiceCodec:
    torch.manual_seed(0)
    made = VoiceCodec(SHAPE)
    with torch.no_grad():
        for quantiser in (made.own, made.heard):
            quantiser.basis.normal_(0, 0.05)
            quantiser.books.normal_()
    return made.requires_grad_(False).eval()


@pytest.fixture
def entered() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def bank(codec: VoiceCodec) -> SpeechBank:
    return SpeechBank(speak, codec)


def revision(text: str, frame: int) -> TimedRevision:
    return TimedRevision(tuple(TimedWord(frame + n, word) for n, word in enumerate(text.split())))


@pytest.mark.parametrize("seed", range(5))
def test_it_goes_over_to_a_newer_answer_at_the_end_of_a_word(bank: SpeechBank, pieces, seed: int) -> None:
    def said(*revisions: TimedRevision):
        row = oracle_row(revisions, pieces, VOCABULARY, 320)
        return AnswerPlan(bank, random.Random(seed), 20, revisions, row).plan().words

    oslo = revision("Anna lives in Oslo.", 24)
    begun = next(word.frame for word in said(oslo) if word.word == "Anna")
    same, other = (
        " ".join(word.word for word in said(oslo, revision(text, begun + 3)))
        for text in ("Anna lives in Rome.", "It is Rome.")
    )
    assert same.endswith("Anna lives in Rome.") and "Oslo." not in same
    assert not any(correction in same for correction in CORRECTIONS), "the beginning still holds"
    assert other.endswith("It is Rome.") and any(word in other for word in CORRECTIONS)


def questions(count: int = 6) -> list[SpokenQuestion]:
    draw = random.Random(5)
    made = []
    for _ in range(count):
        fact = draw_fact(draw, test=False)
        samples = np.random.default_rng(1).standard_normal(30_000).astype(np.float32) * 0.1
        words = len(fact.question.split())
        made.append(SpokenQuestion(fact, samples, tuple(30_000 * (n + 1) // words for n in range(words))))
    return made


def test_a_dialogue_has_all_streams_and_silence_where_none_speaks(bank: SpeechBank, codec: VoiceCodec, pieces) -> None:
    maker = DialogueMaker(bank, codec, pieces, VOCABULARY, questions(), [(questions()[0], "Water is wet.")])
    for seed in range(3):
        tokens = maker.make(random.Random(seed))
        assert tokens.shape == (1 + 8 + 4 + 1, LENGTH) and (tokens >= 0).all()
        text, own, oracle = tokens[0], tokens[1:9], tokens[-1]
        assert (text[:3] == 3).all() and (own[:, :3] == 0).all()
        spoken = own[0] != 0
        assert spoken.any() and not spoken.all() and (oracle != 3).any()
        assert (text != 3)[spoken].mean() > 0.1
    again = DialogueMaker(SpeechBank(speak, codec), codec, pieces, VOCABULARY, questions()).make(random.Random(1))
    assert np.array_equal(again, DialogueMaker(bank, codec, pieces, VOCABULARY, questions()).make(random.Random(1)))


def test_questions_for_the_test_are_never_trained_on() -> None:
    draw = random.Random(0)
    for test in (False, True):
        for _ in range(200):
            fact = draw_fact(draw, test=test)
            assert fact.relation is not None and held_out(fact.relation, fact.subject) == test
            assert fact.value in fact.answer and fact.changed(draw).value != fact.value
    assert len(RELATIONS) >= 15


def test_a_trial_measures_from_the_questions_end(codec: VoiceCodec, pieces, tmp_path: Path, entered: ExitStack) -> None:
    torch.manual_seed(0)
    small = {"text_card": 400, "card": 32, "num_layers": 1, "dim": 64, "num_heads": 2}
    depth = {"depformer_num_layers": 1, "depformer_dim": 32, "depformer_num_heads": 2}
    lm = build_lm({**NANO_LM, **small, **depth}, torch.device("cpu"), torch.float32).eval()
    seen: list[int] = []
    lm.oracle_emb.register_forward_hook(lambda module, args, out: seen.append(int(args[0].reshape(-1)[0])))
    engine = entered.enter_context(Engine(lm, codec, sampling={"use_sampling": False}))
    seen.clear()
    asked = questions(1)
    fact = asked[0].fact.changed(random.Random(0))
    for kind in ("with", "without", "changed"):
        seen.clear()
        (result,) = run_trials(engine, pieces, [(asked[0], fact)], kind)  # type: ignore[list-item]
        told = [token for token in seen if token not in (3, 400)]
        assert (seen.count(400) == 2) if kind == "with" else (kind != "without" or not told)
        if kind == "with":
            assert pieces.decode(told[-len(pieces.encode(fact.answer)) :]).strip() == fact.answer
        assert len(result.samples) == len(result.step_seconds) * 1920
        write_sounds([result], tmp_path)
        assert (tmp_path / f"{kind}-00.wav").exists()
    sounding = result.samples.any()
    (late,) = run_trials(engine, pieces, [(asked[0], fact)], "with", delay=25)  # type: ignore[list-item]
    assert sounding and late.first_sound is not None and late.first_sound >= 2.0
    told = [json.loads(line)["told"] for line in (tmp_path / "answers.jsonl").read_text("utf-8").split("\n")[:3]]
    assert told == [fact.answer, "", fact.answer]


@cases(
    "value, text, right",
    ("four seven two", "The code is 472.", True),
    ("four seven two", "The code is 4 7 2, I think.", True),
    ("nine thirty", "It leaves at 9:30.", True),
    ("27 dollars", "That costs $20.", False),
    ("Reykjavik", "He was born in Rekjavik.", True),
    ("Mark", "That is Max.", False),
)
def test_a_value_is_right_by_its_digits_or_by_its_letters(value: str, text: str, right: bool) -> None:
    relation = RELATIONS[13 if value == "Mark" else 2]  # names of people, or of cities
    assert says(text, Fact("?", "", value, relation, "x")) == right
