"""The pure core: frames, events, transcript, turns, oracle, prompt. No Qt, torch, asyncio, clock or disk."""
