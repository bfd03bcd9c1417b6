"""Speech synthesis: voices that turn text into clips of sound, each engine in a child process.

To be read in this order:

- `base.py`: the protocol `Voice`, and `Clip`: from an engine's sound to words' places and the right loudness.
- `voices.py`: which voices there are, and which one is chosen.
- `child_voice.py`: the voice, which starts a child process and sends it texts.
- `worker.py`: the child's main loop; `piper_worker.py`, `kokoro_worker.py`, `pico_worker.py`: one module an engine;
  `espeak.py`: phonemes for two of them; `word_times.py`: where words end, from the lengths of phonemes.
- `latents.py`, `latents_worker.py`: a voice's latents in place of its sound, to train models with.

A text goes to the child as a line of JSON and comes back as sound; `make_clip` trims it and places its words, and
the future of `Voice.synthesize` is done.
"""
