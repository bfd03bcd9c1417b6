"""Widgets and helpers shared by all panes. Apart from `design`, nothing here imports another GUI package.

- `popover.py`: a panel that floats over the window next to a button.
- `formats.py`: compact formats for money, token counts, durations, times and model names.
- `translation.py`: installs the translation into the user's language.
- `form.py`: rows, grids, labels and buttons; `key_field.py`: an input field for a hotkey.
- `file_dialogs.py`: dialogs that ask for files.
- `panel.py`: the base class of all dialogs; `lists.py`: a dialog's list of pages, and combo boxes.
- `undo_bar.py`: boxes with a message and buttons.
- `buttons.py`, `level_meter.py`: small widgets.
"""
