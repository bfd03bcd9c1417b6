"""Research: benches, corpora and training. The product imports nothing of it, and installed apps leave it out.

- `benches/`: each measures one property of the app (`python -m app bench NAME`)
- `corpus/`, `training/`: make corpora and train models of KAME's class (`corpus`, `train`)
- `nano/`: a KAME small enough for a processor, which `training/nano` makes (`talk --frontend nano`)
- `window.py`: the measurements of the real window, which `bench window` runs in a child process
- `commands/`: the commands of all these; `app.__main__` finds them by name
"""
