"""Chooses among brains: from the words of a turn to a kind of question, and from there to a model.

`classifier` tells how likely each kind is, `policy` decides as the transcript grows. Knows nothing of models,
back-ends or the conversation.
"""
