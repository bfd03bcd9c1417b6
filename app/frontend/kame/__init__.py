"""The front-ends KAME and Moshi: a speech-to-speech model on a graphics card. The only front-ends that import torch.

To be read in this order (`README.md` describes how it works):

- `frontend.py`: loads the models when entered, frees them when exited, and turns failures into sentences.
- `stream.py`: one session's step, its inputs and the two dials; fresh streams before the context is full.
- `stream_engine.py`: what a stream asks of an engine, which `app.research.nano` has, too.
- `oracle_feed.py`, `spoken_words.py`: oracle words to tokens, the model's tokens to words and marks.
- `engine.py`, `graphs.py`: a frame through Mimi, the language model and Mimi, as CUDA graphs.
- `generator.py`, `model.py`: the package `moshi`, extended by the oracle and by shorter attention.
- `quantise.py`, `kernels.cu`: int8 and int4. `checkpoint.py`: from files to models.
- `build.py`: which device, precision and context fit. `measure.py`, `selfcheck.py`, `random_weights.py`, `shapes.py`:
  benches and checks.

A frame of the user's sound becomes Mimi's codes; the language model adds them to the oracle's token and its own tokens,
and gives a text token and codes, which Mimi decodes to the frame that is spoken.
"""
