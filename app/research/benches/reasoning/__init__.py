"""`bench reasoning`: questions with one right answer that are made by rule, any number of them, or Big Bench Audio's.

- `generate.py`: the four forms: object counting, navigation, web of lies, formal fallacies
- `matching.py`: whether an answer is the right one
- `big_bench_audio.py`: reads that data set, which has the same four forms as sound
- `run.py`: asks every system every question; typed against spoken is the figure of interest
"""
