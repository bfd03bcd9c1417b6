"""The inspector pane below the conversation, with tabs for the timeline, latency, requests and log.

- `pane.py`: the tabs and the data model behind the pages
- `activity.py`: folds events into timeline items (`things.py`) and requests; no Qt
- `timeline_page.py`: the Timeline page, and the one-minute timeline in the status line
- `timeline.py`: the plot, which follows the conversation (`view_range.py`) and paints it (`layout.py`, `painter.py`)
- `timeline_words.py`: text descriptions of timeline items
- `latency.py`: the Latency page, with each answer's stages and why it was slow; `latency_charts.py`: its charts
- `requests.py`: the Requests page, a table

Events enter through `InspectorPane.apply`. The pages read the resulting state the next time they are painted or
refreshed.
"""
