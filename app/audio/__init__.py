"""Audio input and output: microphones, loudspeakers and sound files, all as 24 kHz mono float32.

The only package that imports sounddevice. README.md beside this file explains it at length.

- `io`: the protocols of sources and sinks, the ring buffer, resampling, sound files
- `echo`: removes the app's own voice from the microphone's sound
- `devices`: lists, opens, watches and replaces devices; `devices.duplex` puts everything together

Each folder imports only those above it. The user's sound travels from the microphone's callback through a ring to
`EchoCancelledSource`, which the frame thread reads in frames of 80 ms. The app's voice travels from the frame thread
through `DriftCompensatingSink` and a ring to the loudspeaker's callback, and from there also, by the tap, to
`EchoCancelledSource`.
"""
