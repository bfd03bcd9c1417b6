"""Speech synthesis: voices that turn text into audio clips, with each engine in a child process.

Suggested reading order:

- `base.py`: the `Voice` protocol, `Clip`, and `make_clip`, which creates a clip from an engine's output.
- `voices.py`: the available voices and how one is chosen.
- `child_voice.py`: the voice that starts a child process and sends text to it, and is replaced while it doesn't work.
- `worker.py`: the child's main loop; `piper_worker.py`, `kokoro_worker.py`, `pico_worker.py`: one module per engine;
  `espeak.py`: phonemes for Piper and Kokoro; `word_times.py`: word boundaries, computed from phoneme durations.

Each text is sent to the child as a line of JSON, and the child returns audio. `make_clip` trims the audio and aligns
the words with it. The resulting clip completes the future returned by `Voice.synthesize`.
"""
