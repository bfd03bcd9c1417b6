"""The oracle pane: the back-ends' revisions as cards, while they are generated, spoken and superseded.

- `pane.py`: the pane: one or two columns, the large card, and the waiting times.
- `header.py`: its header, with the buttons for earlier revisions, details and the comparison, and the models' columns.
- `column.py`: a column of cards, and the large card.
- `card.py`: the contents of a revision's card.
- `revisions.py`: the revisions with their speech progress, on top of `app.conversation.revisions`.

`OraclePane.apply` passes an event to the log, which returns the changed revisions; `settle` builds their cards and
updates those that differ from what is shown.
"""
