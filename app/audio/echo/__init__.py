"""Removes the app's own voice from the microphone's sound.

- `cancelled_source`: the `AudioSource` with the echo removed; the entry point
- `far_end_aligner`, `quick_resampler`: what the loudspeaker played, aligned with the microphone's frames
- `echo_remover`: the processing of one aligned frame; `early_hops`: of its first parts, before it is complete
- `presence`: whether there is an echo at all
- `adaptive_filter`: the linear filter that learns the echo path
- `canceller`: WebRTC's echo canceller, for what the filter leaves
- `drift_estimator`: how far apart the two clocks are, from the filter's weights
- `convergence`, `residual_gate`: whether the filter has converged, and what attenuates the residual until then
- `known_path`, `store`: echo paths of earlier sessions
- `echo_meter`: how well it works; `power`: the power of short blocks

A frame passes `FarEndAligner` (its far end), then `EchoRemover`: `AdaptiveFilter` (residual), `EchoCanceller` (output),
`EchoPresence` (is it needed?), `ResidualEchoGate` (attenuated output).
"""
