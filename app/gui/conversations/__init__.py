"""The pane that lists saved conversations, and the controller that connects it to the history.

Suggested reading order:

- `list_model.py`: the sorted rows and their texts, as a Qt model
- `row_delegate.py`, `list_view.py`: painting, keys and clicks
- `pane.py`: the list with its heading, search field, menus and undo bar
- `history_controller.py`: lists, renames, removes, restores, duplicates, exports and imports conversations

`HistoryController` passes conversation views from the history to the pane. The pane emits user requests as signals with
a conversation's key.
"""
