"""The settings: each is declared once, and all are stored in a single JSON file.

- `setting`: the fields of a setting's declaration
- `talk_settings`, `declarations`: all settings, starting with those of conversations; `Settings` loads and saves them
- `window_state`: window state that isn't a setting, in a file of its own
- `storage`: reads and writes both files, and sets aside unusable ones
- `paths`: the app's names, and the locations of the user's files
- `user_pauses`: the lengths of the user's pauses, in a file of its own

`Settings.load` reads the file and falls back to the default for missing or invalid values. The settings dialog edits
the attributes according to their declarations and calls `save`. API keys are not settings; see `app.services.api_keys`.
"""
