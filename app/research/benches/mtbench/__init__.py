"""`bench mtbench`: the spoken MT-Bench of the KAME paper, over any set of systems.

- `questions.py`, `speech.py`: the thirty questions of two turns, and their sound
- `systems.py`: what is compared, as it is written on the command line
- `asking.py`, `answer.py`: one fresh session for each question, and what is kept of each turn
- `judge.py`, `calibration.py`, `judging.py`: scores from 1 to 10 by a language model, behind a gate that it must pass
- `facts.py`, `measures.py`: scores without a judge
- `store.py`: results on disk as they come, so that a run can be stopped and resumed
- `cost.py`, `spending.py`: what a run will cost, and what it has cost, against its cap
- `scores.py`, `tables.py`, `figures.py`, `fastchat.py`, `routes.py`: what comes out
- `plan.py`, `run.py`: one run from the questions to the files
"""
