"""The settings of a training run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LossWeights:
    """Weights of the loss. The defaults are the public trainer's; the paper tells of a factor of 1.5 on `audio`.

    `padding`: of the text's padding. `first_book`: of the first codebook, against 1 for each other. `audio_share`:
    share of a batch's frames that take part in the audio's loss, mostly those in which the model speaks; 1 takes all.
    `one_text_mean`: words and padding share one weighted mean, as in Moshi's public trainer, where KAME's has two; the
    token before a word then counts as padding. `own_share`: share of the frames, mostly of speech, whose own codes the
    model is given as it would have chosen them: in a session it follows its own sound, mistakes and all.
    """

    padding: float = 0.5
    first_book: float = 100.0
    audio: float = 1.0
    audio_share: float = 1.0
    one_text_mean: bool = False
    own_share: float = 0.0


@dataclass(frozen=True, slots=True)
class TrainSettings:
    """The settings of a run. The defaults are KAME's, as published: AdamW, constant after the warm-up.

    `batch`: dialogues a step. `final_rate`: share of the rate at the last step, reached along a cosine; 1 keeps it.
    `precision`: "bf16" computes in bfloat16 with weights in float32; "fp32". `compile`: with torch's compiler, which
    needs a C compiler on a processor, takes a minute to begin, and is about 1.7 times as fast.
    """

    steps: int = 1000
    batch: int = 1
    rate: float = 3e-5
    final_rate: float = 1.0
    warm_up: int = 100
    decay: float = 0.1
    betas: tuple[float, float] = (0.9, 0.95)
    clip: float = 1.0
    precision: str = "bf16"
    seed: int = 0
    save_every: int = 500
    weights: LossWeights = LossWeights()
    train_audio: bool = True
    compile: bool = False
