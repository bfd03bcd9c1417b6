"""Frames in, frames out: the engines against their parts and each other, and the front-end's memory and words."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from moshi.models.lm import LMGen

from app.conversation.frame import Frame, silence
from app.conversation.speaking.revisions import OracleAsked, OracleCompleted, OracleDone, OracleWords
from app.conversation.turns import tracker as floor
from app.frontend import FrontEndOptions, make_frontend
from app.frontend.base import FrontEndError, SetDials
from app.frontend.kame.engine.checkpoint import Loaded, build_lm, load
from app.frontend.kame.engine.engine import Engine
from app.frontend.kame.engine.measure import measure_frame
from app.frontend.kame.engine.selfcheck import run_checks
from app.frontend.kame.frontend import KameFrontEnd
from app.frontend.kame.stream_engine import EngineStep, StreamEngine
from app.models.catalogue import ModelError
from app.models.fit import PRECISIONS
from app.models.layout import read_layout
from app.models.locations import model_path
from app.research.nano.codec_layout import CODEC_VOICE
from app.research.nano.frontend import PIECES_NAME, NanoEngine, Sampling, read_pieces
from app.research.nano.model import CodeVoice, Hearing, NanoModel, read_weights
from app.research.nano.voice_codec import VoiceCodec, load_codec, save_codec
from app.research.training.kame.report import save_compact, write_pieces
from app.research.training.nano.start import NANO_LM
from tests.support.engines import InProcess
from tests.support.tables import cases
from tests.support.tiny_kame import make_checkpoint, pieces_model

pytestmark = pytest.mark.slow
GREEDY = {"use_sampling": False}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_checkpoint(tmp_path_factory.mktemp("weights") / "kame")


@pytest.fixture
def engine(folder: Path) -> Iterator[Engine]:
    loaded = on_cpu(folder)
    with Engine(loaded.lm, loaded.mimi, sampling=GREEDY) as running:
        yield running


def on_cpu(folder: Path, **options: int) -> Loaded:
    return load(read_layout(folder), device="cpu", dtype=torch.float32, **options)


def step(engine: StreamEngine, samples: np.ndarray, oracle: int = 3, *, silent: bool = False) -> EngineStep:
    [result] = engine.step(samples, oracle, silent=silent)
    return result


def noise(frames: int) -> np.ndarray:
    return np.random.default_rng(0).normal(0, 0.2, (frames, 1920)).astype(np.float32)


def test_a_frame_is_the_codec_the_generator_and_the_codec(engine: Engine, folder: Path) -> None:
    """Against the package's own pieces, put together as its server does."""
    sound = noise(20)
    loaded = on_cpu(folder)
    with torch.no_grad():
        loaded.lm.oracle_emb.weight.zero_()
    plain = LMGen(loaded.lm, **GREEDY)
    engine.lm.oracle_emb.weight.zero_()
    engine.restart()
    ours = [step(engine, frame) for frame in sound]
    with torch.no_grad(), loaded.mimi.streaming(1), plain.streaming(1):
        for frame, result in zip(sound, ours, strict=True):
            codes = loaded.mimi.encode(torch.from_numpy(frame)[None, None])
            assert tuple(codes[0, :, 0].tolist()) == result.column.user
            tokens = plain.step(codes)
            if tokens is None:
                assert not result.samples.any()
                silent = torch.tensor([engine.silence])[..., None]
                loaded.mimi.decode(silent)
                continue
            wanted = loaded.mimi.decode(tokens[:, 1:])[0, 0].numpy()
            assert np.array_equal(wanted, result.samples)


def test_what_is_forced_is_said_and_what_is_told_is_remembered(engine: Engine) -> None:
    sound = noise(30)
    first = [step(engine, frame) for frame in sound]
    for frame in sound[:3]:
        column = step(engine, frame, silent=True).column
        assert column.own == engine.silence and column.text == engine.lm.text_padding_token_id
    # A stream that follows the tokens of another one goes on as that one does.
    engine.restart()
    for frame in sound:
        step(engine, frame)
    wanted = step(engine, sound[0]).column
    engine.restart()
    for result in first:
        engine.encode(sound[0])
        engine.replay(result.column)
    engine.mimi.reset_streaming()
    for frame in sound:
        engine.encode(frame)
    assert engine.steps == 30
    assert step(engine, sound[0]).column == wanted


def test_a_fresh_stream_remembers_nothing(engine: Engine) -> None:
    sound = noise(12)
    first = [step(engine, frame, oracle).column for frame, oracle in zip(sound, range(5, 17), strict=True)]
    engine.restart()
    again = [step(engine, frame).column for frame in sound]
    assert first != again  # the oracle is gone
    engine.restart()
    assert [step(engine, frame).column for frame in sound] == again


def test_a_forgotten_talk_is_told_again_before_it_goes_on(folder: Path) -> None:
    """After 4/5 of the memory, at a pause: silence while it is told, no frame lost, then it goes on."""
    loaded = on_cpu(folder, context=50)
    loaded.lm.text_linear.register_forward_hook(_pad)
    frontend = KameFrontEnd(InProcess(lambda: loaded), prime_frames=20, prime_steps=3)
    with frontend:
        gauges = []
        for index, frame in enumerate(noise(60)):
            step = frontend.step(Frame(index, frame), [])
            assert step.samples.shape == (1920,)
            gauges.append(step.context)
    begun = next(i for i, gauge in enumerate(gauges) if gauge.frames < (gauges[i - 1].frames if i else 0))
    assert begun == 40
    over = next(i for i, gauge in enumerate(gauges) if gauge.restarted)
    # Of 20 frames told and one more for each frame of sound, three a frame: ten frames.
    assert over - begun + 1 == 10 and gauges[over].primed == 20 and gauges[over].frames == 30
    assert gauges[-1].frames == 30 + len(gauges) - 1 - over


def _pad(_module: object, _args: object, logits: torch.Tensor) -> torch.Tensor:
    logits[..., 3] += 1000.0
    return logits


def test_words_that_come_while_it_is_told_wait_and_are_taken(folder: Path) -> None:
    loaded = on_cpu(folder, context=50)
    loaded.lm.text_linear.register_forward_hook(_pad)
    fed: list[int] = []
    with KameFrontEnd(InProcess(lambda: loaded), prime_frames=20, prime_steps=3) as frontend:
        loaded.lm.oracle_emb.register_forward_pre_hook(lambda _, args: fed.append(int(args[0])))
        for index in range(58):
            inputs = [OracleAsked(1, 1, True), OracleWords(1, 1, "Paris.", 0.0)] if index == 43 else []
            frontend.step(Frame(index, silence()), inputs)
    assert [token for token in fed if token != 3] == [400, *loaded.pieces.encode("Paris.")]


def talkative(folder: Path) -> Loaded:
    """A model that says a word at every step."""
    loaded = on_cpu(folder)
    the = loaded.pieces.encode("the")[-1]
    loaded.lm.text_linear.register_forward_hook(lambda _, __, logits: logits.index_fill(-1, torch.tensor(the), 1000.0))
    return loaded


def told_and_marked(loaded: Loaded, talk: dict[int, list]) -> tuple[list[int], list[tuple[str, int]]]:
    """40 frames with the inputs of `talk` by frame: the oracle's tokens less the padding, and the marks."""
    fed: list[int] = []
    marks: list[tuple[str, int]] = []
    with KameFrontEnd(InProcess(lambda: loaded)) as frontend:
        loaded.lm.oracle_emb.register_forward_pre_hook(lambda _, args: fed.append(int(args[0])))
        for index in range(40):
            step = frontend.step(Frame(index, silence()), talk.get(index, []))
            marks += [(mark.what, mark.turn) for mark in step.marks]
    return [token for token in fed if token != 3], marks


ANSWERED = [OracleAsked(1, 1, True), floor.TakeFloor(1), OracleWords(1, 1, "One two three four five.", 0.0)]


def test_a_barge_in_keeps_what_the_backend_has_said_to_it(folder: Path) -> None:
    """The new turn's request and words come while it is still open whether it is an interruption at all."""
    loaded = talkative(folder)
    told, marks = told_and_marked(
        loaded,
        {
            0: ANSWERED,
            4: [floor.Hold(2), OracleAsked(2, 2, False)],
            5: [OracleWords(2, 2, "Rome", 0.0)],
            8: [floor.Interrupt()],
            12: [floor.TakeFloor(2), OracleCompleted(2), OracleWords(2, 2, " it is.", 0.0), OracleDone(2)],
        },
    )
    old, new = ([400, *loaded.pieces.encode(text)] for text in ("One two three four five.", "Rome it is."))
    assert told == [*old[:8], *new]  # the old one until the interruption, the new one whole
    assert marks == [("started", 1), ("interrupted", 1), ("started", 2)]


def test_an_okay_leaves_the_answer_and_its_oracle_alone(folder: Path) -> None:
    loaded = talkative(folder)
    told, marks = told_and_marked(
        loaded,
        {
            0: ANSWERED,
            4: [floor.Hold(2), OracleAsked(2, 2, False)],
            5: [OracleWords(2, 2, "You are welcome.", 0.0)],
            8: [floor.GoOn()],
        },
    )
    assert told == [400, *loaded.pieces.encode("One two three four five.")]
    assert marks == [("started", 1)]


def test_an_older_number_asked_again_is_fed_from_its_first_word_and_the_one_between_is_refused(folder: Path) -> None:
    loaded = talkative(folder)
    told, _ = told_and_marked(
        loaded,
        {
            0: [OracleAsked(7, 1, True), floor.TakeFloor(1), OracleWords(7, 1, "One two", 0.0)],
            8: [OracleAsked(4, 1, True)],
            10: [OracleWords(4, 1, "Rome", 0.0)],
            18: [OracleAsked(7, 1, True, wanted=True), OracleWords(4, 1, " too late.", 0.0)],
            28: [OracleWords(7, 1, " three.", 0.0), OracleDone(7), OracleDone(4)],
        },
    )
    one, other, again = ([400, *loaded.pieces.encode(text)] for text in ("One two", "Rome", "One two three."))
    assert told == [*one, *other, *again]


def test_an_interruption_silences_it_until_the_user_is_done(folder: Path) -> None:
    loaded = talkative(folder)
    with KameFrontEnd(InProcess(lambda: loaded)) as frontend:
        for index in range(30):
            frontend.step(Frame(index, silence()), [OracleAsked(1, 1, True), floor.TakeFloor(1)] if not index else [])
        assert frontend.speaking
        step = frontend.step(Frame(30, silence()), [floor.Interrupt()])
        assert step.flush and [mark.what for mark in step.marks] == ["interrupted"] and not frontend.speaking
        assert step.samples[:100].any() and not step.samples[240:].any()  # a fade of 10 ms, then silence
        quiet = [frontend.step(Frame(31 + n, silence()), []) for n in range(5)]
        assert not any(s.samples.any() or s.said for s in quiet)
        over = frontend.step(Frame(36, silence()), [floor.TakeFloor(2)])
        assert over.samples.any()
        late = frontend.step(Frame(37, silence()), [OracleWords(1, 1, "Too late.", 0.0)])
        assert late.oracle is None


def test_a_shorter_lead_skips_to_the_newest_frame(folder: Path) -> None:
    loaded = on_cpu(folder)
    with KameFrontEnd(InProcess(lambda: loaded), dials=SetDials(lead=5)) as frontend:
        heard: list[float] = []
        delay = frontend._stream._delay
        frontend._stream._delay = lambda samples: heard.append(float(delay(samples)[0])) or silence()  # type: ignore
        for index in range(12):
            inputs = [SetDials(lead=1)] if index == 8 else [SetDials(lead=3)] if index == 10 else []
            frontend.step(Frame(index, np.full(1920, index + 1, np.float32)), inputs)
    assert heard == [0, 0, 0, 0, 0, 1, 2, 3, 8, 9, 0, 0]  # and a longer one waits until it has so many frames


@cases(
    "name, options, words",
    ("kame", {}, "needs an NVIDIA graphics card"),
    ("kame", {"device": "cpu"}, "models get kame"),
    ("moshi", {"device": "cpu", "weights": Path("nowhere")}, "Moshi's weights are not there in nowhere"),
    ("kame", {"device": "tpu"}, "no device “tpu”"),
    ("kame", {"device": "cpu", "precision": "int3"}, "no precision “int3”"),
)
def test_what_a_front_end_lacks_is_said_before_anything_loads(name: str, options: dict, words: str) -> None:
    with pytest.raises(FrontEndError, match=words):
        make_frontend(name, FrontEndOptions(Path("voice.onnx"), **options))


def test_weights_of_the_other_kind_are_refused_in_words(folder: Path, tmp_path: Path) -> None:
    moshi = make_checkpoint(tmp_path / "moshi", oracle=False)
    for name, weights, words in (("kame", moshi, "they are Moshi's"), ("moshi", folder, "are KAME's")):
        options = FrontEndOptions(Path("voice.onnx"), weights=weights, device="cpu")
        with pytest.raises(FrontEndError, match=words):
            make_frontend(name, options).__enter__()
    with make_frontend("moshi", FrontEndOptions(Path("voice.onnx"), weights=moshi, device="cpu")) as frontend:
        assert frontend.step(Frame(0, silence()), []).samples.shape == (1920,)


def test_the_bench_measures_every_part_and_the_paths_are_equal() -> None:
    figures = [measure_frame("tiny", one, device="cpu", fill=100, frames=5) for one in PRECISIONS]
    parts = {"encode", "temporal", "depth", "language model", "decode", "copies"}
    assert all(one.parts.keys() == parts and one.filled == 100 for one in figures)
    assert [one.precision for one in figures] == ["float32", "int8", "int4"]
    assert all(0 < one.whole.p50 <= one.whole.p99 <= one.whole.worst for one in figures)
    assert figures[0].frame_bytes > figures[1].frame_bytes
    checks = run_checks("cpu", steps=18)
    assert all(check.ok for check in checks), checks
    assert len(checks) >= 6


FRAMES = 40
SHAPE = {
    **NANO_LM,
    "dim": 64,
    "num_heads": 2,
    "num_layers": 2,
    "text_card": 300,
    "context": 24,
    "depformer_dim": 64,
    "depformer_dim_feedforward": 128,
    "depformer_num_heads": 2,
    "depformer_num_layers": 2,
}
NANO_GREEDY = Sampling(temp=0.0, temp_text=0.0)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model and a codec with random weights, as `train merge --compact` writes them."""
    folder = tmp_path_factory.mktemp("nano")
    torch.manual_seed(0)
    lm = build_lm(dict(SHAPE), torch.device("cpu"), torch.float32)
    save_compact(lm.state_dict(), folder / "model.safetensors")
    codec = VoiceCodec()
    with torch.no_grad():
        for quantiser in (codec.own, codec.heard):
            quantiser.basis.normal_(0, 0.05)
            quantiser.books.normal_()
    save_codec(codec, folder / "codec.safetensors", decoder=False)
    return folder


def nano_engine(files: Path, sampling: Sampling = NANO_GREEDY) -> NanoEngine:
    weights, codec = read_weights(files / "model.safetensors"), read_weights(files / "codec.safetensors")
    return NanoEngine(NanoModel(weights, SHAPE), Hearing(codec), CodeVoice(codec, model_path(CODEC_VOICE)), sampling)


def sounds() -> np.ndarray:
    return (np.random.default_rng(1).standard_normal((FRAMES, 1920)) * 0.05).astype(np.float32)


def test_it_steps_as_torch_does_beyond_the_end_of_its_context(files: Path) -> None:
    lm = build_lm(dict(SHAPE), torch.device("cpu"), torch.float32)
    lm.load_state_dict(
        {name: torch.from_numpy(value) for name, value in read_weights(files / "model.safetensors").items()}
    )
    codec = load_codec(files / "codec.safetensors")
    nano = nano_engine(files)
    with Engine(lm.float().eval(), codec, sampling={"use_sampling": False}) as engine:
        assert engine.silence == nano.silence and engine.tokens == nano.tokens
        spoke = 0
        for number, samples in enumerate(sounds()):
            oracle = {5: 300, 6: 7, 7: 8, 8: 9, 20: 300, 21: 7, 22: 8, 23: 9}.get(number, engine.tokens.padding)
            silent = number >= 30
            ours, theirs = (step(one, samples, oracle, silent=silent) for one in (nano, engine))
            assert ours.column == theirs.column, number
            assert np.abs(ours.samples - theirs.samples).max() < 1e-3, number
            spoke += bool(np.abs(ours.samples).max() > 0)
        assert spoke > 20 and not ours.samples.any(), "silence was forced"
        assert nano.steps == engine.steps == FRAMES


def test_replayed_columns_leave_the_stream_as_if_they_had_been_said(files: Path) -> None:
    first, again = nano_engine(files), nano_engine(files)
    columns = [step(first, samples).column for samples in sounds()]
    for column, samples in zip(columns[:20], sounds(), strict=False):
        [encoded] = again.encode(samples)
        assert encoded.column.user == column.user and not encoded.spoken
        again.replay(column)
    assert [step(again, samples).column for samples in sounds()[20:]] == columns[20:]
    first.restart()
    assert step(first, sounds()[0]).column == columns[0]


def test_weights_for_a_card_are_refused_with_a_sentence(files: Path, tmp_path: Path) -> None:
    weights = read_weights(files / "model.safetensors")
    with pytest.raises(ModelError, match="graphics card"):
        NanoModel(weights, {**SHAPE, "delays": [0, *[1] * 12]})
    lm = build_lm(dict(SHAPE), torch.device("cpu"), torch.bfloat16)
    from safetensors.torch import save_file

    save_file(dict(lm.state_dict()), tmp_path / "model.safetensors")
    with pytest.raises(ModelError, match="--compact"):
        read_weights(tmp_path / "model.safetensors")


def test_the_vocabulary_without_sentencepiece_gives_the_same_tokens(tmp_path: Path) -> None:
    import sentencepiece

    model = tmp_path / "pieces.model"
    model.write_bytes(pieces_model())
    theirs = sentencepiece.SentencePieceProcessor(model_proto=model.read_bytes())
    write_pieces(model, tmp_path)
    ours = read_pieces(tmp_path)
    assert ours.vocab_size() == theirs.vocab_size()
    texts = ["Anna lives in Rome.", "  The  code is four, seven!", "Zoë pays 12€ — naïve?", "日本", "", "x"]
    for text in texts:
        tokens = theirs.encode(text)
        assert ours.encode(text) == tokens
        assert ours.decode(tokens).strip() == theirs.decode(tokens).strip()
        assert [ours.id_to_piece(token) for token in tokens] == [theirs.id_to_piece(token) for token in tokens]
    (tmp_path / PIECES_NAME).write_text("{}")
    with pytest.raises(ModelError, match=PIECES_NAME):
        read_pieces(tmp_path)
