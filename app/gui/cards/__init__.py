"""A scrolling column of cards: turns in the transcript, revisions in the oracle.

- `card.py`: what a card holds, and the change of single letters; `document.py`: its text
- `reader.py`: from Markdown to the elements of a body, formulas as text
- `body.py`, `formats.py`: how elements are written into the document, and tables fitted into it
- `paint.py`: what is painted around the text; `view.py`: the column, with its caret and selection
- `copying.py`, `links.py`: what can be done with code, a selection and a link
- `find_bar.py`: searches such a view
"""
