"""Sources and sinks of sound, independent of any device.

- `base`: the protocols `AudioSource`, `AudioSink`, `Tap` and `DuplexAudio`
- `errors`: errors whose text is a sentence for the user
- `ring`: the lock-free ring buffer between a callback and a thread
- `playback_position`: what of the written samples was played, counted at 24 kHz
- `resample`: any rate and channel count to 24 kHz mono, and back
- `clock_loop`: measures the drift between two clocks from a queue's level
- `wrapped_source`: a base class for sources that change the sound of another
- `files`, `file_check`: sound files as source and sink, and whether a file contains anything audible
- `levels`: levels in dBFS

A value is a NumPy array of float32 samples: n of them to `AudioSink.write`, 1,920 of them (80 ms) from
`AudioSource.read_frame`.
"""
