"""The programs that run in the environments of other assistants, and the talk with them (`pipe.py`)."""
