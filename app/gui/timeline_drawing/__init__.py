"""Paints the timeline: lanes, bars, marks and words, tile by tile.

- `picture.py`: paints what is in view: names, lanes, live edge, cursor
- `tiles.py`: caches the painted lanes
- `painter.py`: paints a stretch of all lanes with `bars.py` (requests), `sound.py` (levels), `words.py` (words, placed
  by `word_layout.py`) and `marks.py` (moments)
- `canvas.py`, `style.py`: what these painters share: scale, lanes, colours, letters
- `descriptions.py`: what a thing says under the mouse or the cursor
"""
