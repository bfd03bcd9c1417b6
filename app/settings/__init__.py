"""The settings: declared once, kept in one JSON file.

- `setting`: what is declared of one setting
- `talk_settings`, `declarations`: all settings, those of talks first; `Settings` loads and saves them
- `window_state`: what the window remembers apart from the settings, in a file of its own
- `storage`: reads and writes both files, and sets aside one that can't be used
- `paths`: the app's names, and where the user's files are
- `user_pauses`: how long the user's pauses are, in a file of its own

`Settings.load` reads the file and replaces what it lacks or has wrong by the default. The window's dialog edits the
attributes by their declarations and calls `save`. API keys are no settings; see `app.services.api_keys`.
"""
