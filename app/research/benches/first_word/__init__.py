"""`bench first-word`: how long the app's real window lets its user wait for the first sound and the first words.

- `stage.py`: runs the window on a virtual screen with a virtual microphone and loudspeaker
- `asking.py`: asks it questions, and defines what is measured of an answer
- `run.py`: the questions, the groups and the table
"""
