"""`bench first-word`: how long the app's real window lets its user wait for the first sound and the first words.

`stage.py` runs the window on a virtual screen with a virtual microphone and loudspeaker, `asking.py` asks it questions,
`measures.py` defines what is measured, and `run.py` holds the questions, the groups and the table.
"""
