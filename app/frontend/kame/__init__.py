"""The front-ends KAME and Moshi: a speech-to-speech model on a graphics card, in a process of its own.

Suggested reading order (`README.md` describes how it works):

- `frontend.py`: borrows a loaded model on entry, returns it on exit, and turns failures into user-facing messages.
- `stream.py`: a session's steps, their inputs and the two dials; starts fresh streams before the context is full.
- `oracle_feed.py`, `spoken_words.py`: convert oracle words to tokens, and the model's tokens to words and marks.
- `stream_engine.py`: the interface between stream and engine, also implemented by `app.research.nano`.
- `engine_process.py`, `messages.py`: the engine's process, from this side. `engine_source.py`: who has it, and when.
- `build.py`: what is checked before anything is loaded.
- `engine/`: what runs in that process. Only there is torch imported.

Mimi encodes a frame of the user's audio. The language model combines the codes with the oracle's token and its own
tokens, and outputs a text token and codes, which Mimi decodes to the output frame.
"""
