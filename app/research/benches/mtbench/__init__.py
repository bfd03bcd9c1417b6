"""`bench mtbench`: the spoken MT-Bench of the KAME paper, over any set of systems.

- `plan.py`: the questions and their audio, the systems, a run's cost estimate, and its results on disk
- `asking.py`: one fresh session per question, the record of each turn, and measures that need no judge
- `judge.py`: scores from 1 to 10 by a language model that must first pass a calibration test
- `scores.py`: the scores of a run, and tables and figures derived from them
- `run.py`: one run from the questions to the files, including FastChat's
"""
