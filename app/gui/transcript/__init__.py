"""The transcript pane: everything said by both sides, and the field for typing.

- `pane.py`: the pane: sessions one below another, turns as cards, their buttons and the context menu.
- `header.py`: the conversation's title and settings, shown in the top bar.
- `welcome.py`: the page shown before the first word.
- `entries.py`: builds turns, and notes about back-end changes, from a session's events, and their cards.
- `past_talk.py`: prepares stored sessions on a worker thread.
- `composer.py`: the field for typing; `document_chips.py`: the conversation's documents above it.
- `replay_controller.py`: replays the audio of a turn.

`TranscriptPane.apply` passes an event to `TranscriptEntries`, which returns the changed turn; `settle` updates the
cards of those turns. Cards of past sessions are added a few at a time, so that the window stays responsive.
"""
