"""A scrolling column of cards: turns in the transcript, revisions in the oracle.

- `card.py`: what a card holds; `document.py`: its text; `runs.py`: the change of single letters
- `paint.py`: what is painted around the text; `view.py`: the column, with its caret and selection
- `find_bar.py`: searches such a view
"""
