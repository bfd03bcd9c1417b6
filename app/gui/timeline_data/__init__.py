"""Folds a session's events into the data that the timeline shows. Without Qt, so that it is tested without a window.

- `log.py`: `TimelineLog`, which takes each event and owns everything below.
- `spans.py`: the things on the timeline: turns, requests, answers, words, troubles.
- `track.py`: keeps things of one kind in order, and finds those of a window.
- `turns.py`: the user's turns and transcripts.
- `requests.py`: the requests to the back-ends, and the words that reached the front-end.
- `levels.py`: how loud both sides were, frame by frame.
- `late_frames.py`: which frames were late.
- `live_clock.py`: where the live edge is between two events.

An event enters `TimelineLog.apply`, which adds to a track or changes a thing on it, and remembers the earliest second
that has changed. The window's timeline then reads the tracks of the visible seconds.
"""
