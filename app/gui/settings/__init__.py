"""The dialog “Settings”, made from the declarations of the settings.

Read in this order:

- `editor.py`: what all editors have in common: one value, typed or picked
- `text_editors.py`, `choice_editors.py`: text, folders and keys; switches, lists and numbers
- `slider_editor.py`, `swatches.py`: numbers on a slider; colours as dots
- `row.py`: one setting with its name, editor, explanation and reset button
- `links.py`: rows that lead to another page, or another dialog
- `provider_box.py`: a provider's API key, and the test of its connection
- `section.py`: rows under a heading, on a card
- `area.py`: all sections, of which those of a page are shown, or what a search finds
- `page_list.py`, `reset_bar.py`: the list of pages; resetting all settings
- `dialog.py`: the dialog

A changed value goes from its editor through its row to the dialog, which emits it with its key; what is accepted comes
back through `SettingsDialog.show_value`.
"""
