"""Sources and sinks of sound: PortAudio devices, files, rings, and resampling."""
