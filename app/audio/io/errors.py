"""The errors of the audio package; their text is a sentence for the user."""

from __future__ import annotations


class AudioError(Exception):
    """`str(error)` tells the user what happened, what it means and what to do."""


class AudioFileError(AudioError):
    """A sound file can't be read or written, or contains nothing audible."""


class DeviceError(AudioError):
    """A microphone or loudspeaker is missing, busy, refused or gone."""
