"""`bench mtbench`: the spoken MT-Bench of the KAME paper, over any set of systems.

- `plan.py`: the questions and their sound, the systems, what a run will cost, and its results on disk
- `asking.py`: one fresh session for each question, what is kept of each turn, and measures without a judge
- `judge.py`: scores from 1 to 10 by a language model, behind a gate that it must pass
- `scores.py`: the scores of a run, and the tables, figures and routes made of them
- `run.py`: one run from the questions to the files, FastChat's among them
"""
