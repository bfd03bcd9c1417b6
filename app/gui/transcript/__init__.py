"""The transcript pane: what both sides have said, and the line to type in.

- `pane.py`: the pane: talks below each other, turns as cards, the context menu.
- `header.py`: its heading, with the settings of the conversation.
- `cards.py`: what the card of a turn says.
- `composer.py`: the line to type in.
- `replay_controller.py`: plays the sound of a turn again.

`TranscriptPane.apply` passes an event to `app.conversation.transcript.Transcript`, which returns the turn that has
changed; `settle` writes the cards of those turns.
"""
