"""What the session should be, what it is, and the one object that changes it.

- `session_manager.py`: starts, changes and ends the session; `want(**parts)` is the one way to change what it should be
- `session_adapter.py`: the state that the session publishes, and signals for what has changed in it
- `session_state.py`: the observable state: which phase, how far a start has come, and commands
- `talk_state.py`: who speaks or thinks right now, from the session's events
- `choice.py`: between the settings and a `SessionChoice`
- `settings_controller.py`: writes settings, and tells who shows them
- `background_tasks.py`: named asyncio tasks, ended with the window
"""
