"""The pane with the list of kept conversations, and the controller between it and the history.

Read in this order:

- `row_texts.py`: the words of a row: title, date, model
- `sections.py`: the rows in their order: pinned ones, folders, days
- `list_model.py`, `row_delegate.py`, `list_view.py`: the list as a Qt model, its painting, and its keys and clicks;
  `snippet.py` shortens the text in which a search has found something
- `pane.py`: the list with its heading, search field, menus and undo bar; `folder_menu.py`: what can be done with
  folders
- `import_export.py`: exporting to and importing from files
- `history_controller.py`: lists, renames, removes, restores and duplicates conversations

Views of conversations go from the history through `HistoryController` to the pane; what the user wants goes back as
signals with a conversation's key.
"""
