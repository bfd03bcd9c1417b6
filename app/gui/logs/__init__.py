"""The dialog “Log” and what the window contributes to logs and diagnostics.

- `table_model`: the newest log entries as a table model, filtered by level and words
- `view`: the table on screen, which follows the newest entry until the user scrolls away
- `panel`: the dialog with the table, the selected entries in full, and the diagnostics
- `qt_messages`: logs Qt's own messages
- `window_facts`: screens, scale and style, for diagnostics

Entries come from a `LogSource`; while the dialog is open, it asks the model to catch up four times a second.
"""
