"""The front-ends KAME and Moshi: a speech-to-speech model on a graphics card. The only front-ends that import torch.

Suggested reading order (`README.md` describes how it works):

- `frontend.py`: loads the models on entry, frees them on exit, and turns failures into user-facing messages.
- `stream.py`: a session's steps, their inputs and the two dials; starts fresh streams before the context is full.
- `stream_engine.py`: the interface between stream and engine, also implemented by `app.research.nano`.
- `oracle_feed.py`, `spoken_words.py`: convert oracle words to tokens, and the model's tokens to words and marks.
- `engine.py`: runs a frame through Mimi, the language model and Mimi again, as CUDA graphs.
- `generator.py`, `model.py`: the `moshi` package, extended with the oracle and shorter attention.
- `quantise.py`, `kernels.cu`: int8 and int4 quantisation. `checkpoint.py`: loads models from files.
- `build.py`: the choice of device, precision and context. `measure.py`, `selfcheck.py`, `random_weights.py`:
  benchmarks and self-checks.

Mimi encodes a frame of the user's audio. The language model combines the codes with the oracle's token and its own
tokens, and outputs a text token and codes, which Mimi decodes to the output frame.
"""
