"""A small codec of 80 ms frames for models that run on a processor; the engine uses it in place of Mimi.

The two directions are separate. The model's own sound is a Piper voice: its codes stand for the voice's latents, which
its vocoder turns into sound. The user's sound is only ever heard: its codes stand for causal mel frames.

- `voice_codec.py`: both directions, in streams, as the engine calls them, and the codec's file
- `layout.py`: its numbers, without torch
"""
