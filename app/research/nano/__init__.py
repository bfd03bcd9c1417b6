"""The front-end Nano KAME: a model of KAME's class that is small enough for a processor, without torch.

To be read in this order:

- `frontend.py`: loads the weights when it is entered; its stream is that of `app.frontend.kame`.
- `engine.py`: a frame of sound in, a frame of sound out; `pieces.py`: the vocabulary.
- `hearing.py`, `mel.py`: the user's sound as codes; `voice.py`: the model's codes as sound.
- `language_model.py`, `layers.py`: the transformers, stepped in numpy; `weights.py` reads them.

How such a model is made: `app/research/training/README.md`.
"""
