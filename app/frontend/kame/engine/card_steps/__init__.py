"""The steps of `bench card`: what only a run on the card itself can show, each in a process of its own.

`python -m app.frontend.kame.engine.card_steps STEP REQUEST` runs one, where REQUEST is a `Request` as JSON. It prints
its figures as lines of JSON, as soon as it has them, so that a crash loses only those after it.

- `base.py`: the request, the report, and what steps have in common.
- `small.py`: kernels, comparisons, synchronisation, attention, and a session with a small model.
- `faults.py`: captures beside another thread, and failures that a process doesn't survive.
- `whole.py`: the published model: its frames, its memory, its loading.
- `checkpoint.py`: writes checkpoints with random weights.
"""
