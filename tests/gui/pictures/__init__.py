"""Scripted conversations, and the README's pictures of the window that shows them.

- `timeline`, `window`: events of a conversation, for many tests of the window
- `event_script`: builds events from what is said and asked; `scripts`: the conversations of the README's pictures
- `scripted_window`: the real window with fake services, at a fixed time
- `scenes`: what each picture shows; `screenshots`: takes the pictures
"""
