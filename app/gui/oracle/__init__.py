"""The oracle pane: the back-ends' revisions as cards, while they are written, spoken and superseded.

- `pane.py`: the pane: one column or two, the quiet mode, the counting of waits.
- `header.py`: its heading, with the buttons for the quiet mode and the comparison, and which column is whose.
- `column.py`: a column of cards.
- `card.py`: what a revision's card says.
- `revisions.py`: the revisions with what has been spoken of them, on top of `app.conversation.revisions`.

`OraclePane.apply` passes an event to the log, which returns the revisions that it has changed; `settle` makes their
cards and writes those that differ from the shown ones.
"""
