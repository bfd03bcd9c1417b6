"""A page of all components in all their states: `python -m app.gui.gallery`.

- `page.py`: the page
- `__main__.py`: shows it, or saves it as a picture in a theme of one's choice
"""
