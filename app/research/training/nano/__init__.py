"""Nano KAME, a small KAME-style model that runs on a CPU, and its training corpus.

- `facts.py`: invented facts
- `answers.py`: the timing of an answer as the oracle arrives, and the model's own speech as codes
- `dialogues.py`: questions spoken by many voices, and whole dialogues as tokens
- `corpus.py`: shards of dialogues, and of text and speech for learning to read and pronounce
- `start.py`: the codec, vocabulary and weights that training starts from
- `trial.py`: evaluates a trained model on held-out questions
"""
