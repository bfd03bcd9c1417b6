"""Controllers between the views and the session: they take what the user wants and show what came of it.

- `session_starter.py`: starts and restarts sessions, and goes on in conversations of the past
- `backend_controller.py`: model, comparison model, style, tools and prices
- `sound_controller.py`: devices, sound processing, mute and the dialog “Sound”
- `conversation_controller.py`: which conversation is open, and recording its events; `list_controller.py` connects it
  to the list of conversations
- `live_settings.py`: applies changed settings at once, where that is possible
- `asker.py`: has a question asked aloud
- `talk_keys.py`: hotkeys and commands of other processes
- `dialogs.py`: opens the dialogs about models and conversations

Each subscribes to `gui/state` and sends its commands to the `SessionManager`.
"""
