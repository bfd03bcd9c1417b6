"""Trains models of KAME's class.

- `run.py`: a run's folder and settings, LoRA by Moshi's own layers, and the published loss
- `trainer.py`: batches, steps, checkpoints that resume exactly, several cards and machines
- `report.py`: cost before the run, curves, losses on held-out dialogues, and weights that the app loads
"""
