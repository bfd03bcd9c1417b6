"""Trains models: those of KAME's class, and the app's own small ones.

- `kame`: trains models of KAME's class on corpora (the command `train`)
- `nano`: a small model of that class, and the corpus that it is trained on; `quantiser.py`: fits its codec
- `pause_samples.py`: what the models know of each pause in recordings, frame by frame
- `endpointing.py`: fits `resources/turn_ends.json`, the weights of endpointing, to these pauses
- `sentence_encoder.py`, `multinomial.py`: sentence embeddings, and the regression over them
- `routing.py`: fits `resources/routing/table.npz`, the router's classifier of questions

Cases and the real models come from `app.research.benches`; what is written here is read by `app.stt` and `app.routing`.
"""
