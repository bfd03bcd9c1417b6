"""The front-end Nano KAME: a model of KAME's class that is small enough for a processor, without torch.

- `frontend.py`: the front-end, its vocabulary, and one step: a frame of sound in, a frame of sound out
- `model.py`: the user's sound as codes, the transformers in numpy, and codes as sound

How such a model is made: `app/research/training/README.md`.
"""
