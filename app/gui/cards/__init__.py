"""A scrolling column of cards: turns in the transcript, revisions in the oracle.

- `card.py`: what a card holds; `document.py`: its text; `runs.py`: the change of single letters
- `reader.py`: from Markdown to `elements.py`, what a body is made of; `formula.py`: formulas as text
- `body.py`, `formats.py`, `tables.py`: how elements are written into the document, and tables fitted into it
- `paint.py`, `body_paint.py`: what is painted around the text; `view.py`: the column, with its caret and selection
- `code_buttons.py`, `copying.py`, `links.py`: what can be done with code, a selection and a link
- `find_bar.py`: searches such a view
"""
