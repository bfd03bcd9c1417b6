"""The pane that lists saved conversations, and the controller that connects it to the history.

Suggested reading order:

- `list_model.py`: a Qt list model with the sorted rows and their text
- `row_delegate.py`, `list_view.py`: painting, and keyboard and mouse handling
- `pane.py`: the list with its heading, search field, menus and undo bar
- `history_controller.py`: lists, renames, removes, restores, duplicates, exports and imports conversations

`HistoryController` passes `ConversationView`s from the history to the pane. The pane emits the user's requests as
signals that carry a conversation's key.
"""
