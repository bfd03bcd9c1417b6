"""The edge to sound: microphones, loudspeakers and sound files, all as 24 kHz mono float32.

The only package that imports sounddevice and soundfile. Knows nothing of speech, models or windows.
"""
