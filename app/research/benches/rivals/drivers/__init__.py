"""The programs that run in the environments of other assistants, and the protocol they speak (`pipe.py`)."""
