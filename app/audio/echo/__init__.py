"""Removes the app's own voice, the echo, from the microphone signal.

- `cancelled_source`: the entry point, an `AudioSource` from which the echo has been removed
- `far_end_aligner`: the loudspeaker signal (the far end), aligned with the microphone's frames
- `echo_remover`: the processing of aligned frames, and the estimation of clock drift from the filter's weights
- `adaptive_filter`: the linear filter that learns the echo path
- `canceller`: WebRTC's echo canceller, which removes the echo left by the filter
- `residual_gate`: detects whether there is an echo, and attenuates the residual until the filter has converged
- `known_path`, `store`: echo paths from earlier sessions

`FarEndAligner` provides the far end for a frame. `EchoRemover` then applies `AdaptiveFilter` (residual),
`EchoCanceller` (output), `EchoPresence` (is there an echo?) and `ResidualEchoGate` (attenuated output).
"""
