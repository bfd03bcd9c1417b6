"""A sound file that is only ever read forwards. Knows nothing of rates, checks or frames."""

from __future__ import annotations

import soundfile


class ForwardFile(soundfile.SoundFile):
    """A `soundfile.SoundFile` that doesn't seek.

    soundfile seeks to where it already is after every read. In an MP3 a frame borrows bits from earlier ones,
    and a decoder that has just seeked lacks them: read in blocks, it drops sound after every block.
    """

    def seekable(self) -> bool:
        """False: soundfile then leaves the position alone."""
        return False
