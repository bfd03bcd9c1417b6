"""The app's settings. Each is declared once, and all are stored in a single JSON file.

- `setting`: the class with which each setting is declared
- `talk_settings`: the settings of conversations
- `declarations`: all other settings, and the class `Settings`, which loads and saves all of them
- `kept_state`: window state that isn't a setting, and statistics of the user's pauses, each in a separate file
- `storage`: reads and writes both files, and sets aside unusable ones
- `paths`: the app's names, and the paths of the user's files

`Settings.load` reads the file, using the default for any missing or invalid value. The settings dialog edits the
attributes according to their declarations and calls `save`. API keys are not settings; see `app.services.api_keys`.
"""
