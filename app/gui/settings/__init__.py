"""The dialog “Settings”, made from the declarations of the settings.

Read in this order:

- `text_editors.py`: the base of all editors; text, folders and keys
- `choice_editors.py`: switches, lists, numbers, sliders and colours
- `rows.py`: one setting with its name, editor, explanation and reset button; rows that lead elsewhere; cards
- `pages.py`: the list of pages, and the area that shows a page or the results of a search
- `dialog.py`: the dialog

A changed value goes from its editor through its row to the dialog, which emits it with its key; what is accepted comes
back through `SettingsDialog.show_value`.
"""
