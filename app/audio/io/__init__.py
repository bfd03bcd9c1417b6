"""Audio sources and sinks, independent of any device.

- `base`: the protocols `AudioSource`, `AudioSink`, `Tap` and `DuplexAudio`, and their errors
- `ring`: the lock-free ring buffer between a callback and a thread, and its playback counters
- `resample`: conversion between any rate and channel count and 24 kHz mono; levels in dBFS
- `clock_loop`: measures the drift between two clocks from a queue's level over time
- `files`: audio files as source and sink, and a check that a file contains audible sound
- `pushed`, `opus`: the endpoints of a session over a network

Audio is passed as NumPy arrays of float32 samples: `AudioSink.write` accepts any number of samples, and
`AudioSource.read_frame` returns 1,920 (80 ms).
"""
