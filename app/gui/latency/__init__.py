"""The view that shows where the time of an answer went, and why it was slow.

- `view.py`: the view.
- `bar.py`: one answer, divided into what was waited for.
- `table.py`: the stages of that answer next to the conversation's distribution.
- `strip.py`: the newest answers, of which one is picked.
- `gauges.py`: the front-end's context, the time budget of the frames, and the costs.
- `descriptions.py`: the words for all of these.

Events are folded by `app.conversation.latency` and `app.conversation.usage`; the view reads both a few times a second
while it is visible.
"""
