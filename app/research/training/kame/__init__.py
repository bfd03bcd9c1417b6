"""Trains models of KAME's class.

- `run_folder.py`: what a run starts from, and where it keeps what; `settings.py`: what can be chosen
- `batches.py`: dialogues in an order that a seed fixes; `loss.py`: the published loss
- `trainer.py`: the steps; `adapters.py`: LoRA by Moshi's own layers; `processes.py`: several cards and machines
- `checkpoints.py`: all that a later run needs to go on exactly; `merge.py`: weights that the app loads
- `cost.py`: hours and memory, told before; `curves.py`: a line for a terminal, and a figure
"""
