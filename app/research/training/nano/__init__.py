"""Nano KAME: a small model of KAME's class that runs on a processor, and the corpus that it is trained on.

- `facts.py`: invented facts; `questions.py`: them, asked by many voices
- `answers.py`: how an answer is spoken while the oracle comes in; `speech.py`: the model's own speech as codes
- `reading.py`: dialogues in which nobody asks, as text alone or aloud, to learn reading the oracle and pronouncing
- `dialogues.py`: whole dialogues as tokens; `corpus.py`: many of them, in shards
- `shape.py`: the model's shape; `start.py`: the codec, the vocabulary and the weights that training starts from
- `trial.py`: tries a trained model on questions that it was not trained on; `score.py`: what came of it
"""
