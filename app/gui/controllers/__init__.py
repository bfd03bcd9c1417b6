"""Controllers between the views and the session: they take what the user wants and show what came of it.

- `context.py`: what the window is given from outside, and what the controllers share
- `session_starter.py`: starts and restarts sessions, and continues conversations of the past
- `talk_controller.py`: the talk button, the space bar, hotkeys and commands of other processes
- `backend_controller.py`: model, comparison model, style, tools and prices
- `sound_controller.py`: devices, sound processing, mute and the dialog “Sound”
- `conversation_controller.py`: which conversation is open, and recording its events; `list_controller.py` connects it
  to the list of conversations; `documents_controller.py`: its documents
- `session_messages.py`, `model_offers.py`: what the message bar says about the session and about models
- `asker.py`: has a question asked aloud; `replay_controller.py`: plays a turn again
- `dialogs.py`, `panels.py`: open the dialogs; `palette_controller.py`: the palette and the shortcut sheet
- `mini_controller.py`, `tray_controller.py`, `system_controller.py`: the mini window, the tray, and the system around

Each follows `gui/state` and sends its commands to the `SessionManager`.
"""
