"""Makes corpora for training models of KAME's class (the command `corpus`): read `make.py` first.

- `items.py`: questions with answers, as data sets are published; `scripts.py`: dialogues written by a back-end
- `speaking.py`: dialogues spoken by the app's voices; `dialogue.py`: who said which word when
- `store.py`, `sound.py`: dialogues on disk
- `hints.py`: the oracle at each stage of a question; `timing.py`: when its words arrive; `asking.py`: asks back-ends
- `streams.py`, `tokens.py`: the tokens of all streams, frame by frame; `shards.py`: files of them, with hashes
- `layout_kame.py`, `layout_moshi.py`: the layouts of the public trainers
- `check.py`: finds garbage; `stats.py`: counts; `make.py`: the steps, each of which goes on where it was stopped
"""
