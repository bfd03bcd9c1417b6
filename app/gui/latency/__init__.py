"""The latency of answers: status, panel, bars and words."""
