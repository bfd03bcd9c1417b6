"""Widgets and helpers that all panes share. Nothing here imports another package of the window.

- `popover.py`: a panel that floats over the window beside a button.
- `formats.py`: money, tokens, durations, times and model names in few letters.
- `translation.py`: the language of the window.
- `form.py`: rows, grids, labels and buttons; `key_field.py`: a field for a hotkey.
- `panel.py`: the base of all dialogs.
- `undo_bar.py`: boxes with a sentence and buttons.
- `buttons.py`, `elided.py`, `pick_list.py`, `level_meter.py`: small widgets.
"""
