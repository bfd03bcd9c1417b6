"""A scrolling column of cards, used for the turns of the transcript and the revisions of the oracle.

- `card.py`: a card's content, and minimal edits of its text; `document.py`: the cards in a text document
- `reader.py`: converts Markdown to the elements of a card's body, and formulas to plain text
- `body.py`, `formats.py`: writing elements into the document, and fitting tables to the width
- `paint.py`: everything painted around the text; `view.py`: the scrolling view
- `copying.py`, `links.py`: copying code and selections, opening links
- `find_bar.py`: a search bar for the view
"""
