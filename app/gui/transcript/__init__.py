"""The transcript pane: what both sides have said, and the line to type in.

- `pane.py`: the pane: talks below each other, turns as cards, their buttons, the context menu.
- `header.py`: the title and the settings of the conversation, which the top bar shows.
- `welcome.py`: what is shown before the first word.
- `entries.py`: turns, and the changes of the back-end between them, from a session's events, and their cards.
- `past_talk.py`: prepares kept talks on a worker thread.
- `composer.py`: the field to type in.
- `replay_controller.py`: plays the sound of a turn again.

`TranscriptPane.apply` passes an event to `TranscriptEntries`, which returns the turn that has changed; `settle` writes
the cards of those turns. Cards of past talks are written a few at a time, so that the window answers meanwhile.
"""
