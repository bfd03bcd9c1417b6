"""`bench duplex`: the tasks of Full-Duplex-Bench 1.0 and 1.5, in its on-disk layout, with the metrics of its papers.

Full-Duplex-Bench is licensed under CC BY-NC 4.0, so nothing of it is included here. This bench reads and writes its
layout, so that its data can be played to the app and its scripts can score the app's output. The formulas are taken
from its papers (arXiv 2503.04721 and 2507.23159).

- `samples.py`: finds the samples in a folder, makes small sets in the same layout, and writes and reads outputs
- `run.py`: plays each sample to a session and scores the output with the metrics of its task
"""
