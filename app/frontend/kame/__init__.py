"""The front-end that the app exists for: Moshi with a fourth stream, the oracle. The home of torch."""
