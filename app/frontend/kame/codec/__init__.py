"""A small codec with 80 ms frames for models that run on the CPU; the engine uses it in place of Mimi.

The two directions are separate. The model's own audio is a Piper voice: its codes represent the voice's latents, which
the voice's vocoder turns into audio. The user's audio is never reconstructed: its codes represent causal mel frames.

- `voice_codec.py`: streaming encoder and decoder as called by the engine, and the codec's file format
- `layout.py`: constants and filters, without torch
"""
