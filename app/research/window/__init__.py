"""Measures how smoothly the window runs; `kame-desktop bench window` starts it in a child process.

- `window`: the entry point, which writes a JSON report
- `measurements`: the three measurements of the real window
- `replay_session`: a session that emits given events, and a thread that emits them in real time
- `dense_talk`: the made-up events, as dense as in a real conversation or denser
"""
