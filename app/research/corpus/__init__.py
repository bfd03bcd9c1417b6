"""Builds corpora for training KAME-style models (the `corpus` command). Start with `make.py`.

- `make.py`: the steps, which can be interrupted and resumed, and the requests to the back-end
- `scripts.py`: turns published question-answer data sets into dialogues, synthesized with the app's voices
- `dialogue.py`: the timed words of a dialogue, its files, and its token rows frame by frame
- `oracle.py`: the oracle at each stage of a question, when its words arrive, and the check of a corpus
- `tokens.py`: the tokens of all streams, in shards with hashes
- `layouts.py`: the file layouts of the public trainers
"""
