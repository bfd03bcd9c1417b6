"""Trains models: those of KAME's class, and the app's own small ones.

- `kame`: trains models of KAME's class on corpora (the command `train`)
- `nano`: a small model of that class, and the corpus that it is trained on
- `endpointing.py`: fits `resources/turn_ends.json`, the weights of endpointing, to pauses in recordings
- `routing.py`: fits `resources/routing/table.npz`, the router's classifier of questions

Cases and the real models come from `app.research.benches`; `app.stt` and `app.routing` read what is written here.
"""
