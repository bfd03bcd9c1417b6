"""Removes the app's own voice from the microphone's sound.

- `cancelled_source`: the `AudioSource` with the echo removed; the entry point
- `far_end_aligner`: what the loudspeaker played, aligned with the microphone's frames
- `echo_remover`: the processing of one aligned frame; the drift of the two clocks, from the filter's weights
- `adaptive_filter`: the linear filter that learns the echo path
- `canceller`: WebRTC's echo canceller, for what the filter leaves
- `residual_gate`: whether there is an echo at all, and what attenuates the residual until the filter has converged
- `known_path`, `store`: echo paths of earlier sessions

A frame passes `FarEndAligner` (its far end), then `EchoRemover`: `AdaptiveFilter` (residual), `EchoCanceller` (output),
`EchoPresence` (is it needed?), `ResidualEchoGate` (attenuated output).
"""
