"""The inspector below the conversation: timeline, latency, requests and log, as tabs.

- `pane.py`: the tabs; owns what the pages show
- `activity.py`: folds events into the things of the timeline (`things.py`) and the requests; no Qt
- `timeline_page.py`: the timeline's page, and the timeline of the last minute in the status line
- `timeline.py`: the plot, which follows the conversation (`view_range.py`) and paints it (`layout.py`, `painter.py`)
- `timeline_words.py`: describes the things of the timeline
- `latency.py`: the page with the stages of the answers and why one was slow; `latency_charts.py`: its charts
- `requests.py`: the page with the table of requests

An event enters `InspectorPane.apply`. The pages read the folds when they are next painted or refreshed.
"""
