"""Training of KAME-style models.

- `run.py`: a run's folder and settings, LoRA using Moshi's own layers, and the published loss
- `trainer.py`: batches, steps, checkpoints that resume exactly, multiple GPUs and machines
- `report.py`: cost estimates, curves, losses on held-out dialogues, and export of weights
"""
