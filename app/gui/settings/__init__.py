"""The dialog “Settings”, made from the declarations of the settings.

Read in this order:

- `editor.py`: what all editors have in common: one value, typed or picked
- `text_editors.py`, `choice_editors.py`: text, folders and keys; switches, lists and numbers
- `row.py`: one setting with its name, editor, explanation and reset button
- `area.py`: all rows, of which a group or the result of a search is shown
- `reset_bar.py`: resetting all settings
- `dialog.py`: the dialog

A changed value goes from its editor through its row to the dialog, which emits it with its key; what is accepted comes
back through `SettingsDialog.show_value`.
"""
