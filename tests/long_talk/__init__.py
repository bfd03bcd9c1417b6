"""A talk of many hours in simulated time, in the real window, with history, recording and log on. `python -m
tests.long_talk --hours 8` prints a table of what the process holds after each hour."""
