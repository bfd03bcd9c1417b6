"""Trains models of KAME's class.

- `run_folder.py`: a run's folder, its settings, and LoRA by Moshi's own layers
- `loss.py`: the published loss
- `trainer.py`: batches, steps, checkpoints that resume exactly, several cards and machines
- `report.py`: cost before the run, curves, losses on held-out dialogues, and weights that the app loads
"""
