"""`bench rivals`: this app and other open voice assistants on the same audio, models and machine.

- `process.py`: the participants, a locked Python environment for each, and one assistant in a process
- `drivers/`: the programs that run in the rivals' environments, and their protocol (`pipe.py`)
- `ours.py`: the equivalent program for this app
- `run.py`: asks all assistants the questions, measures the answers, and creates the table
"""
