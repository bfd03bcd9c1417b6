"""Conversations on disk: what was said, when it was said, for as long as the user wants.

`store` is the desk that the window asks, `writer` the thread that owns the file. `database` opens it, `schema` brings
it up to date, `writing` puts a talk down while it happens, `shelf` and `search` find what is there, and `erasing`
leaves nothing of it. `export` and `importing` are the ways out and in.
"""
