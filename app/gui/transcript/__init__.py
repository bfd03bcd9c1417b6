"""The transcript pane: both sides' turns, and the input field for typed messages.

- `pane.py`: the pane, which shows the sessions' turns as cards, with buttons and a context menu.
- `header.py`: the conversation's title and settings, shown in the top bar.
- `welcome.py`: the page shown while the conversation is empty.
- `entries.py`: builds turns and notes about back-end changes from a session's events, and creates their cards.
- `past_talk.py`: prepares stored sessions for display, on a worker thread.
- `composer.py`: the input field for typed messages; `document_chips.py`: the conversation's documents above it.
- `replay_controller.py`: replays the audio of a turn.

`TranscriptPane.apply` passes each event to `TranscriptEntries`, which returns the entry that changed; `settle` then
updates the cards of all changed entries. Cards of past sessions are added in small batches to keep the window
responsive.
"""
