"""The Log dialog, and the GUI's contributions to logs and diagnostics.

- `table_model`: a table model of the newest log entries, filtered by level and words
- `view`: the table widget, which follows the newest entry until the user scrolls away
- `panel`: the dialog with the table, the full text of selected entries, and diagnostics
- `qt_messages`: logs Qt's own messages, and collects screens, scale and style for diagnostics

Entries come from the app's `Log`. While the dialog is open, it polls for new ones four times a second.
"""
