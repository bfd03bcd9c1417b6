"""Makes corpora for training models of KAME's class (the command `corpus`): read `make.py` first.

- `scripts.py`: questions with answers as data sets publish them, made into dialogues by a back-end; `asking.py` asks it
- `speaking.py`: dialogues spoken by the app's voices
- `dialogue.py`: who said which word when, the files of a dialogue, and its streams frame by frame
- `hints.py`: the oracle at each stage of a question, and when its words arrive
- `tokens.py`: the tokens of all streams, in files with hashes
- `layouts.py`: the layouts of the public trainers
- `check.py`: finds garbage and counts; `make.py`: the steps, each of which can be interrupted and resumed
"""
