"""The Settings dialog, generated from the declared settings.

Suggested reading order:

- `text_editors.py`: the base class of all editors; text, folders and hotkeys
- `choice_editors.py`: switches, lists, numbers, sliders and colours
- `rows.py`: a setting with its name, editor, explanation and reset button; links to other settings; cards
- `pages.py`: the list of pages, and the area that shows a page or search results
- `dialog.py`: the dialog

A changed value passes from its editor through its row to the dialog, which emits it with the setting's key. The value
that is eventually stored is passed back through `SettingsDialog.show_value`.
"""
