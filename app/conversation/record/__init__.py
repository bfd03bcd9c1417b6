"""What happened: events folded into turns, revisions, latency figures and usage."""
