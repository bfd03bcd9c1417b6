"""Nano KAME: a small model of KAME's class that runs on a processor, and the corpus that it is trained on.

- `facts.py`: invented facts; `answers.py`: how an answer is spoken while the oracle comes in
- `dialogues.py`: whole dialogues as tokens; `corpus.py`: many of them, in shards
- `shape.py`: the model's shape
"""
