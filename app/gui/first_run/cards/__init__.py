"""Boxes on the pages of the first run: things to choose from, and downloads.

- `choice_card.py`: a box, and one that can be chosen; `ollama_card.py`, `cloud_card.py`: two ways to a language model
- `fetch_strip.py`: what both download strips share; `download_strip.py`: weights; `graphics_strip.py`: what a graphics
  card needs
"""
