"""What the session should be, what it is, and the one object that changes it.

- `session_manager.py`: starts, changes and ends the session; `want(**parts)` is the one way to change what it should be
- `session_state.py`: the observable state: what is wanted, what runs, which phase, who answers
- `talk_state.py`: who speaks or thinks right now, from the session's events
- `choice.py`: between the settings and a `SessionChoice`
- `settings_controller.py`: writes settings, and tells who shows them
- `background_tasks.py`: named asyncio tasks, ended with the window
"""
