"""The pane with the list of kept conversations, and the controller between it and the history.

Read in this order:

- `list_model.py`: the rows in their order, with their words, as a Qt model
- `row_delegate.py`, `list_view.py`: its painting, and its keys and clicks
- `pane.py`: the list with its heading, search field, menus and undo bar
- `history_controller.py`: lists, renames, removes, restores, duplicates, exports and imports conversations

Views of conversations go from the history through `HistoryController` to the pane; what the user wants goes back as
signals with a conversation's key.
"""
