"""Errors about models, as sentences for the user."""


class ModelError(Exception):
    """`str(error)` is a sentence: what happened, what it means, what to do."""


class DownloadCancelled(ModelError):
    """The user has stopped a download; what has come stays for the next attempt."""

    def __init__(self) -> None:
        super().__init__("The download was stopped. What has come stays for the next try.")
