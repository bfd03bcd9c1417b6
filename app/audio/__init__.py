"""Audio input and output: microphones, loudspeakers and audio files, all as 24 kHz mono float32.

This is the only package that imports sounddevice. See README.md in this folder for a detailed description.

- `io`: the source and sink protocols, the ring buffer, resampling and audio files
- `echo`: removes the app's own voice from the microphone signal
- `devices`: lists, opens, watches and replaces devices; `devices.duplex` combines all of these

Each subpackage imports only the ones listed before it. The user's audio travels from the microphone's callback through
a ring buffer to `EchoCancelledSource`, which the frame thread reads in frames of 80 ms. The app's voice travels from
the frame thread through `DriftCompensatingSink` and a ring buffer to the loudspeaker's callback, and from there also
through the tap to `EchoCancelledSource`.
"""
