"""`bench mtbench`: the spoken MT-Bench of the KAME paper, over any set of systems.

- `questions.py`: the thirty questions of two turns, and their sound
- `systems.py`: what is compared, as the command line names it, and what a run will cost
- `asking.py`: one fresh session for each question, what is kept of each turn, and scores without a judge
- `judge.py`: scores from 1 to 10 by a language model, behind a gate that it must pass
- `plan.py`: what a run consists of, its results on disk as they come, and its spending against the cap
- `scores.py`, `tables.py`: the scores of a run, and the tables, figures and routes made of them
- `run.py`: one run from the questions to the files, FastChat's among them
"""
