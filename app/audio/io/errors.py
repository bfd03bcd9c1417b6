"""What can go wrong with sound, as sentences for the user.

Knows nothing of devices or files: those who meet a problem write the sentence.
"""

from __future__ import annotations


class AudioError(Exception):
    """`str(error)` is for the user: what happened, what it means, what to do."""


class AudioFileError(AudioError):
    """A sound file can't be read, holds nothing to hear, or can't be written."""


class DeviceError(AudioError):
    """A microphone or loudspeaker is missing, busy, refused or gone."""
