"""Training of KAME-style models and of the app's own small models.

- `kame`: trains KAME-style models on corpora (the `train` command)
- `nano`: a small model of that kind and its training corpus
- `endpointing.py`: fits `resources/turn_ends.json`, the endpointing weights, to pauses in recordings

Cases and speech models come from `app.research.benches`; `app.stt` reads the weights written here.
"""
