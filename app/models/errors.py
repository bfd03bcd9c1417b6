"""What can go wrong with weights, in words for the user."""


class ModelError(Exception):
    """`str(error)` is a sentence: what happened, what it means, what to do."""


class DownloadCancelled(ModelError):
    """The user has stopped a download; what has come stays for the next try."""
