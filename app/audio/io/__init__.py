"""Sources and sinks of sound, independent of any device.

- `base`: the protocols `AudioSource`, `AudioSink`, `Tap` and `DuplexAudio`, and their errors
- `ring`: the lock-free ring buffer between a callback and a thread, and what of its samples was played
- `resample`: any rate and channel count to 24 kHz mono, and back; levels in dBFS
- `clock_loop`: measures the drift between two clocks from a queue's level
- `files`: sound files as source and sink, and whether a file contains anything audible
- `pushed`, `opus`: the ends of a session over a network

A value is a NumPy array of float32 samples: n of them to `AudioSink.write`, 1,920 of them (80 ms) from
`AudioSource.read_frame`.
"""
