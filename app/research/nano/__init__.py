"""The Nano KAME front-end: a KAME-style model small enough to run on a CPU without torch.

- `frontend.py`: the front-end, its vocabulary, and the engine, which takes and returns one frame of audio per step
- `model.py`: the encoder of the user's audio, the transformers in numpy, and the decoder from codes to audio
- `voice_codec.py`: the same encoder and decoder in torch, for training, and the codec's file format; KAME's engine uses
  it in place of Mimi. `codec_layout.py`: its constants and filters, without torch
- `latents.py`, `latents_worker.py`: compute a voice's latents instead of audio, for training

The codec's two directions are separate. The model's own audio is a Piper voice: its codes represent the voice's
latents, which the voice's vocoder turns into audio. The user's audio is never reconstructed: its codes represent causal
mel frames.

`app/research/training/README.md` describes how to train such a model.
"""
