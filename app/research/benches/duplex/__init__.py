"""`bench duplex`: Full-Duplex-Bench's tasks, versions 1 and 1.5, by their layout on disk and their papers' metrics.

That bench is CC BY-NC 4.0: nothing of it is here. Its layout is read and written, so that its data can be given to the
app and its own scripts can read what the app has said; the formulas are those of its papers (arXiv 2503.04721 and
2507.23159).

- `samples.py`: finds the samples of a folder, and what is marked in each
- `making.py`: makes small sets of the same form, from recordings of the app's and of real people
- `speaking.py`: lets a session hear a sample; writes `output.wav`, as long as the input, and `output.json`
- `voice.py`: where an output sounds, and its pitch and loudness
- `metrics.py`: the metrics of each task
- `run.py`: all samples of a folder
- `result.py`: the figures by sample and by task, and their tables
"""
