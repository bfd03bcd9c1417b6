"""`bench rivals`: this app and other open voice assistants, on the same sounds, models and machine.

- `process.py`: who takes part, an environment for each from its own lock, and one assistant in a process
- `drivers/`: the programs that run in the rivals' environments, and their protocol (`pipe.py`)
- `ours.py`: the same program for this app
- `run.py`: asks all assistants, measures the answers, and makes the table
"""
