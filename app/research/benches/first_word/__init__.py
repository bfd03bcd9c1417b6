"""`bench first-word`: how soon the app's real window plays the first sound and the first words of an answer.

- `stage.py`: runs the window on a virtual screen with a virtual microphone and loudspeaker
- `asking.py`: asks questions and measures the answers
- `run.py`: the groups of questions, and the table
"""
