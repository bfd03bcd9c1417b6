"""A scrolling column of cards, used for the turns of the transcript and the revisions of the oracle.

- `card.py`: the content of a card, and minimal edits to its text; `document.py`: the text document with all cards,
  into which it writes their elements
- `reader.py`: converts Markdown to the elements of a card's body, and formulas to plain text
- `formats.py`: the text formats of elements
- `paint.py`: the decorations painted around the text; `view.py`: the scrolling view
- `copying.py`, `links.py`: copy code and selections, and open links
- `find_bar.py`: a search bar for the view
"""
