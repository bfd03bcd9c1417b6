"""`bench rivals`: this app and other open voice assistants, on the same sounds, models and machine.

- `catalogue.py`: who takes part; `environment.py`: an environment for each, from a lock of its own
- `process.py`: one assistant in a process; `loudspeaker.py`: plays and records what it gives out
- `drivers/`: the programs that run in the rivals' environments, and the talk with them (`pipe.py`)
- `ours.py`: the same program for this app
- `measure.py`: asks one question and measures the answer
- `run.py`, `result.py`: all assistants, and the table
"""
