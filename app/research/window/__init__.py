"""Measures how smoothly the window runs; `kame-desktop bench window` starts it in a child process.

- `window.py`: the measurements of the real window, with a session that emits given events; writes a JSON report
- `dense_talk.py`: the made-up events, as dense as in a real conversation or denser, and the bench's table
"""
