"""Makes corpora for training models of KAME's class (the command `corpus`): read `make.py` first.

- `make.py`: the steps, each of which can be interrupted and resumed, and how a back-end is asked
- `scripts.py`: questions with answers as data sets publish them, made into dialogues and spoken by the app's voices
- `dialogue.py`: who said which word when, the files of a dialogue, and its streams frame by frame
- `hints.py`: the oracle at each stage of a question, and when its words arrive
- `tokens.py`: the tokens of all streams, in files with hashes
- `layouts.py`: the layouts of the public trainers
- `check.py`: finds garbage and counts
"""
