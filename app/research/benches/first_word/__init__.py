"""`bench first-word`: how long the app's real window takes to play the first sound and the first words.

- `stage.py`: runs the window on a virtual screen with a virtual microphone and loudspeaker
- `asking.py`: asks questions and defines what is measured in an answer
- `run.py`: the questions, the groups and the table
"""
