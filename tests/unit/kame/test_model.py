"""The model and its generator against Moshi's own, to the bit; the oracle's rules, and words of its own tokens."""

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import sentencepiece
import torch
from moshi.models.lm import LMGen, LMModel
from moshi.modules.transformer import StreamingMultiheadAttention

from app.frontend.kame.engine.generator import KameGen
from app.frontend.kame.engine.model import KameLM, neutral_oracle
from app.frontend.kame.oracle_feed import OracleQueue
from app.frontend.kame.spoken_words import InnerText
from tests.support.tables import cases
from tests.support.tiny_kame import pieces_model

pytestmark = pytest.mark.slow
SHAPE: dict[str, Any] = {
    "delays": [0, 0, 1, 1, 0, 1, 1],
    "n_q": 6,
    "dep_q": 3,
    "card": 32,
    "text_card": 48,
    "dim": 32,
    "num_layers": 2,
    "num_heads": 2,
    "hidden_scale": 4.125,
    "depformer_dim": 16,
    "depformer_dim_feedforward": 66,
    "depformer_num_heads": 2,
    "depformer_num_layers": 2,
    "depformer_multi_linear": True,
    "depformer_weights_per_step": True,
    "depformer_pos_emb": "none",
    "depformer_gating": "silu",
    "depformer_context": 3,
    "gating": "silu",
    "norm": "rms_norm_f32",
    "positional_embedding": "rope",
    "context": 30,
    "causal": True,
}
PAD, START = 3, 48
PRECISIONS = [torch.float32, torch.bfloat16]


class _TextWithOracle(torch.nn.Module):
    """A text embedding that adds another one's vector: an independent way to the sum that KAME feeds in."""

    def __init__(self, text: torch.nn.Module, oracle: torch.nn.Module) -> None:
        super().__init__()
        self.text, self.oracle = text, oracle
        self.tokens: torch.Tensor | None = None

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        assert self.tokens is not None
        return self.text(tokens) + self.oracle(self.tokens)


def make(dtype: torch.dtype = torch.float32, seed: int = 0, **more: Any) -> KameLM:
    torch.manual_seed(seed)
    return KameLM(dtype=dtype, **{**SHAPE, **more}).eval()


def stock(model: KameLM, **more: Any) -> LMModel:
    plain = LMModel(dtype=model.dtype, **{**SHAPE, **more}).eval()
    plain.load_state_dict({k: v for k, v in model.state_dict().items() if not k.startswith("oracle_emb.")})
    return plain


@contextmanager
def logits_of(gen: LMGen) -> Iterator[list[torch.Tensor]]:
    seen: list[torch.Tensor] = []
    gen.on_text_logits_hook = lambda value: seen.append(value.clone())
    yield seen


def run(gen: LMGen, user: torch.Tensor, before: Any = None) -> list[torch.Tensor | None]:
    """Steps along `user` [B, K, T]; `before(step)` is called before each and may return an oracle token."""
    out = []
    for step in range(user.shape[2]):
        token = before(step) if before is not None else None
        torch.manual_seed(1000 + step)
        codes = user[:, :, step : step + 1]
        result = gen.step(codes) if token is None else gen.step_with(codes, torch.full((1, 1, 1), token))
        out.append(None if result is None else result.clone())
    return out


def equal(a: list[torch.Tensor | None], b: list[torch.Tensor | None]) -> bool:
    return len(a) == len(b) and all(
        (x is None and y is None) or (x is not None and y is not None and torch.equal(x, y))
        for x, y in zip(a, b, strict=True)
    )


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("sampling", [False, True])
def test_a_neutral_oracle_makes_it_moshi_to_the_bit(dtype: torch.dtype, sampling: bool) -> None:
    model = make(dtype)
    plain = stock(model)
    with torch.no_grad():
        model.oracle_emb.weight.copy_(neutral_oracle(model.text_emb.weight, PAD))
    user = torch.randint(0, 32, (2, 3, 50))
    ours, theirs = KameGen(model, use_sampling=sampling), LMGen(plain, use_sampling=sampling)
    with logits_of(ours) as a, logits_of(theirs) as b, ours.streaming(2), theirs.streaming(2):
        assert equal(run(ours, user), run(theirs, user))
    assert equal(a, b)
    with torch.no_grad():
        model.oracle_emb.weight.copy_(model.text_emb.weight)  # what the public loader does
    copied = KameGen(model, use_sampling=sampling)
    with logits_of(copied) as c, copied.streaming(2):
        run(copied, user)
    assert not equal(a, c)


@pytest.mark.parametrize("dtype", PRECISIONS)
@cases("guidance", {}, {"cfg_coef": 2.0, "cfg_is_no_text": True}, {"cfg_coef": 3.0, "cfg_is_masked_until": [4, 4]})
def test_each_step_takes_one_token_in_order(dtype: torch.dtype, guidance: dict[str, Any]) -> None:
    """Pushes at odd times against a script of what each step must take, fed to Moshi by another way."""
    model = make(dtype)
    independent = stock(model)
    joined = _TextWithOracle(independent.text_emb, model.oracle_emb)
    independent.text_emb = joined
    script = [PAD, PAD, START, 5, 6, 7, PAD, 8, 9, START, 10, START, 11, 12, 13, 14, PAD, PAD, START, 20, PAD]
    user = torch.randint(0, 32, (2, 3, len(script)))

    queue = OracleQueue(start=START, padding=PAD, vocabulary=48)

    def before(step: int) -> int:
        match step:
            case 2:
                queue.push([5, 6, 7], reset=True)
            case 7:
                queue.push([8], reset=False)
                queue.push([9], reset=False)
            case 9:
                queue.push([10, 30, 31, 32], reset=True)
            case 11:
                queue.push([11, 12], reset=True)
            case 13:
                queue.push([], reset=False)
                queue.push([13, 14, 15], reset=False)
            case 16:
                queue.clear()
            case 18:
                queue.push([20], reset=False)  # the first after a clear begins a new one
        return queue.take()

    def follow(step: int) -> None:
        joined.tokens = torch.full((4 if guidance else 2, 1), script[step])

    ours = KameGen(model, use_sampling=False, **guidance)
    theirs = LMGen(independent, use_sampling=False, **guidance)
    with logits_of(ours) as a, logits_of(theirs) as b, ours.streaming(2), theirs.streaming(2):
        assert equal(run(ours, user, before), run(theirs, user, follow))
    assert equal(a, b)


def test_a_token_outside_of_the_vocabulary_is_refused_whole() -> None:
    queue = OracleQueue(start=START, padding=PAD, vocabulary=48)
    for wrong in ([5, 49], [-1]):
        with pytest.raises(ValueError, match="not in the vocabulary"):
            queue.push(wrong, reset=True)
    assert queue.rest == []


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_attending_to_what_is_filled_changes_no_token(dtype: torch.dtype) -> None:
    model = make(dtype, context=64)
    user = torch.randint(0, 32, (1, 3, 60))
    whole, short = KameGen(model, use_sampling=False), KameGen(model, use_sampling=False)
    with whole.streaming(1):
        wanted = run(whole, user)
    seen: list[int] = []
    attention = next(m for m in model.modules() if isinstance(m, StreamingMultiheadAttention))
    with short.streaming(1):
        short.fill_lazily()
        state = attention._streaming_state
        complete = state.kv_cache.complete

        def spy(*args: Any) -> Any:
            result = complete(*args)
            seen.append(result.keys.shape[2])
            return result

        state.kv_cache.complete = spy  # type: ignore[method-assign]
        assert equal(run(short, user, lambda step: short.attend_to(16 * (step // 16 + 1))), wanted)
    assert seen == [16 * (step // 16 + 1) for step in range(60)]


@functools.cache
def pieces(kind: str) -> Any:
    return sentencepiece.SentencePieceProcessor(model_proto=pieces_model(400, kind))


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_whole_words_keep_their_tokens_when_more_words_follow(kind: str) -> None:
    """This is what lets the oracle be fed word by word."""
    words = "The Fitzwilliam Museum, it's 5,895 metres from naïve cafés.".split(" ")
    encode = pieces(kind).encode
    for count in range(1, len(words)):
        assert encode(" ".join(words))[: len(encode(" ".join(words[:count])))] == encode(" ".join(words[:count]))


def words(text: str, gaps: dict[int, int] | None = None) -> list[str]:
    """What the decoder gives for the pieces of `text`, with padding behind some of them."""
    inner = InnerText(pieces("unigram"), silent=frozenset({0, 3}))
    out = []
    for place, token in enumerate(pieces("unigram").encode(text)):
        out.append(inner.push(token))
        out += [inner.push(3) for _ in range((gaps or {}).get(place, 0))]
    out.append(inner.flush())
    return [word for word in out if word]


def test_pieces_become_words() -> None:
    text = "The Fitzwilliam Museum, it's 5,895 metres: naïve cafés."
    assert words(text) == [" " + word for word in text.split()]
    ids = pieces("unigram").encode("Museum, it")
    comma = [pieces("unigram").id_to_piece(i) for i in ids].index(",")
    assert words("Museum, it", {comma - 1: 3}) == [" Museum", ",", " it"]
    assert "".join(words("Museum, it", {comma - 1: 3})) == " Museum, it"
    inner = InnerText(pieces("unigram"), silent=frozenset({0, 3}))
    space = next(token for token in range(400) if pieces("unigram").id_to_piece(token) == "▁")
    word = next(token for token in range(400) if pieces("unigram").id_to_piece(token).isalpha())
    said = [inner.push(token) for token in (space, 3, 3, word, 3)]
    assert said == ["", "", "", "", " " + pieces("unigram").id_to_piece(word)]
    inner = InnerText(pieces("unigram"), silent=frozenset({0, 3}))
    ids = pieces("unigram").encode("漢")
    assert len(ids) > 2
    assert [inner.push(i) for i in ids[:-1]] == [""] * (len(ids) - 1)
    inner.push(ids[-1])
    assert inner.push(3).strip() == "漢"
