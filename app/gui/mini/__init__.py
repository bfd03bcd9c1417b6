"""The mini window (`window.py`), a small always-on-top window for talking while using another program."""
