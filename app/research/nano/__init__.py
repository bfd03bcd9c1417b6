"""The Nano KAME front-end: a KAME-style model small enough to run on a CPU without torch.

- `frontend.py`: the front-end, its vocabulary, and the engine, which takes and returns one frame of audio per step
- `model.py`: the encoder of the user's audio, the transformers in numpy, and the decoder from codes to audio

`app/research/training/README.md` describes how to train such a model.
"""
