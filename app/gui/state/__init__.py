"""What the session should be, what it is, and the one object that changes it.

- `session_manager.py`: starts, changes and ends the session; `want(**parts)` is the one way to change what it should be
- `session_model.py`: what the session publishes, and its events folded once; views and controllers follow it
- `talk_state.py`: who speaks or thinks right now, from the session's events
- `past_talk.py`: stored sessions, prepared for display on a worker thread
- `choice.py`: between the settings and a `SessionChoice`
- `settings_controller.py`: applies changed settings, and saves them
- `background_tasks.py`: named asyncio tasks, ended with the window
"""
