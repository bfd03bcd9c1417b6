"""The inspector below the conversation: the timeline, the latency, the requests and the log, as tabs.

- `pane.py`: the tabs, and the page of each.
- `request_log.py`: follows the requests to the models.
- `request_words.py`: a request in words, and its values to sort by.
- `request_table.py`: the table's model.
- `requests.py`: the page with the table.
"""
