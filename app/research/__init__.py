"""Research: benches, corpora and training. The product imports none of it, and installed apps leave it out.

- `benches/`: measurements of single properties of the app (`python -m app bench NAME`)
- `corpus/`, `training/`: build corpora and train KAME-style models (`corpus`, `train`)
- `nano/`: a KAME small enough for a CPU, trained by `training/nano` (`talk --frontend nano`)
- `window.py`: measurements of the real window, run by `bench window` in a child process
- `commands/`: the commands for all of these, which `app.__main__` finds by name
"""
