"""Nano KAME: a small model of KAME's class that runs on a processor, and the corpus that it is trained on.

- `facts.py`: invented facts
- `answers.py`: how an answer is spoken while the oracle comes in, and the model's own speech as codes
- `dialogues.py`: spoken questions of many voices, and whole dialogues as tokens
- `corpus.py`: many dialogues in shards, and text and speech to learn reading and pronouncing from
- `start.py`: the codec, the vocabulary and the weights that training starts from
- `trial.py`: tries a trained model on questions that it was not trained on, and scores it
"""
