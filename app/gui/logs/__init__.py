"""The Log dialog, and what the GUI contributes to logs and diagnostics.

- `table_model`: the newest log entries as a table model, filtered by level and words
- `view`: the table widget, which follows the newest entry until the user scrolls away
- `panel`: the dialog with the table, the full text of selected entries, and diagnostics
- `qt_messages`: logs Qt's own messages
- `window_facts`: screens, scale and style, for diagnostics

Entries come from the app's `Log`; while the dialog is open, it asks the model to catch up four times a second.
"""
