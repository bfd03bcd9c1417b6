"""The command palette, and the sheet of all keys.

- `command.py`: what can be run, and where it comes from: menus, settings, conversations, models
- `ranking.py`: which commands fit what was typed, and their order, the recently used first
- `delegate.py`, `palette.py`: the list and the floating field
- `shortcuts.py`, `shortcut_sheet.py`: all keys in groups, and the dialog that shows them
"""
