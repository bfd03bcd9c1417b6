"""The command palette, and the keyboard shortcut sheet.

- `command.py`: the commands, which come from menus, settings, conversations and models
- `ranking.py`: matches commands against the typed text and orders them, favouring recently used ones
- `delegate.py`, `palette.py`: the list and the floating search field
- `shortcuts.py`, `shortcut_sheet.py`: all shortcuts in groups, and the dialog that shows them
"""
