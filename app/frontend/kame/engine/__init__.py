"""The engine of KAME and Moshi: the models, and the process that steps them on a graphics card. Only here, and in
`app.research`, is torch imported.

Suggested reading order:

- `worker.py`: the process. It loads a model, and steps it as a session asks. `plan.py`: what fits this card.
- `engine.py`: runs a frame through Mimi, the language model and Mimi again. `graphs.py`: as CUDA graphs.
- `generator.py`, `model.py`: the `moshi` package, extended with the oracle and shorter attention.
- `fused.py`: its layers with fewer launches. `kernels.py`, `kernels.cu`: the app's own kernels. `proofs.py`: which of
  them this card has proven.
- `checkpoint.py`, `weights.py`: load models from files. `quantise.py`: int8 and int4.
- `measure.py`, `selfcheck.py`, `random_weights.py`: benchmarks and self-checks. `look.py`: prints what torch finds
  of the card. `card_steps/`: the steps of `bench card`.
"""
