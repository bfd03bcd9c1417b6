"""Makes the corpus for Nano KAME: many dialogues of invented facts and other answers, as tokens in shards."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

from app.corpus.shards import Corpus, Layout, open_corpus
from app.corpus.streams import Vocabulary
from app.frontend.kame.checkpoint import Loaded
from app.frontend.kame.codec.voice_codec import VoiceCodec
from app.models.errors import ModelError
from app.training.nano.dialogues import DialogueMaker, SpokenQuestion
from app.training.nano.facts import Fact, draw_fact
from app.training.nano.questions import Speaker, speak_questions
from app.training.nano.speech import SpeechBank
from app.tts.latents import LatentVoice

SHARD_DIALOGUES = 50

Progress = Callable[[str], None]


def make_fact_corpus(
    folder: Path,
    loaded: Loaded,
    voice: Path,
    speakers: Sequence[tuple[float, Speaker]],
    general: Sequence[tuple[str, str]],
    *,
    dialogues: int,
    questions: int,
    seed: int = 0,
    progress: Progress = lambda line: None,
) -> Corpus:
    """Writes the shards that are not there yet. `general`: questions with answers that are no facts.

    `questions`: how many are spoken; each is asked many times, and has another answer each time. Raises VoiceError,
    and ModelError when the folder holds another corpus.
    """
    codec = loaded.mimi
    if not isinstance(codec, VoiceCodec):
        raise ModelError("These weights have Mimi's codec. This corpus is for a small model with a voice's codec.")
    layout = Layout(
        codec.shape.own_books, codec.shape.heard_books, loaded.lm.text_padding_token_id, loaded.lm.text_initial_token_id
    )
    folder.mkdir(parents=True, exist_ok=True)
    corpus = open_corpus(folder) if (folder / "corpus.json").exists() else Corpus(folder, layout)
    if corpus.layout != layout:
        raise ModelError(f"The corpus in {folder} is for another model. Choose another folder.")
    names = [f"{seed:03d}-{number:05d}" for number in range(-(-dialogues // SHARD_DIALOGUES))]
    missing = [name for name in names if f"{name}.npz" not in corpus.hashes]
    if not missing:
        return corpus
    draw = random.Random(seed)
    facts = [draw_fact(draw, test=False) for _ in range(questions)]
    asked = [Fact(question, answer, "") for question, answer in general]
    spoken = speak_questions([*facts, *asked], speakers, seed, progress)
    others: list[tuple[SpokenQuestion, str]] = [(question, question.fact.answer) for question in spoken[len(facts) :]]
    with LatentVoice(voice) as speaking:
        maker = DialogueMaker(
            SpeechBank(speaking.speak, codec),
            codec,
            loaded.pieces,
            Vocabulary(layout.padding, layout.start),
            spoken[: len(facts)],
            others,
        )
        for number, name in enumerate(missing):
            of_shard = random.Random(f"{seed} {name}")
            corpus.add(name, [maker.make(of_shard).tokens for _ in range(SHARD_DIALOGUES)])
            progress(f"dialogues: {(number + 1) * SHARD_DIALOGUES} of {len(missing) * SHARD_DIALOGUES}")
    return corpus
