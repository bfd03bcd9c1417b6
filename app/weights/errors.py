"""What can go wrong with weights, in words for the user."""


class WeightsError(Exception):
    """`str(error)` is a sentence: what happened, what it means, what to do."""


class DownloadCancelled(WeightsError):
    """The user has stopped a download; what has come stays for the next try."""
