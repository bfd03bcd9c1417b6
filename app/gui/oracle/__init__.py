"""The oracle pane, which shows the back-ends' revisions as cards while they are generated, spoken and superseded.

- `pane.py`: the pane itself, which arranges the columns and the large card and updates the waiting times.
- `header.py`: its header, with buttons for earlier revisions, details and the comparison; assigns models to columns.
- `column.py`: a column of cards, and the large card.
- `card.py`: the contents of a revision's card.
- `revisions.py`: which revision counts now.

The pane follows the session model: it notes which revisions have changed, and updates their cards after each batch.
"""
