"""`bench duplex`: Full-Duplex-Bench's tasks, versions 1 and 1.5, by their layout on disk and their papers' metrics.

That bench is CC BY-NC 4.0: nothing of it is here. Its layout is read and written, so that its data can be given to the
app and its own scripts can read what the app has said; the formulas are those of its papers (arXiv 2503.04721 and
2507.23159).

- `samples.py`: finds the samples of a folder, makes small sets of the same form, and writes and reads outputs
- `run.py`: plays each sample to a session, and scores what it says by the metrics of each task
"""
