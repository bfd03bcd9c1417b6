"""Runs LiveKit's agent session without a room: its Silero and endpointing, faster-whisper, an OpenAI client, Piper."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import numpy as np
from faster_whisper import WhisperModel
from livekit import rtc
from livekit.agents import Agent, AgentSession, stt, tts, utils
from livekit.agents.inference.vad import VAD
from livekit.agents.types import DEFAULT_API_CONNECT_OPTIONS, NOT_GIVEN
from livekit.agents.voice import io
from livekit.plugins import openai
from pipe import USER_RATE, Pipe, settings
from piper import PiperVoice


class PipeInput(io.AudioInput):
    """Receives the user's audio from the bench."""

    def __init__(self, pipe):
        super().__init__(label="bench")
        self._pipe = pipe

    async def __anext__(self):
        data = await asyncio.to_thread(self._pipe.read)
        if data is None:
            os._exit(0)
        return rtc.AudioFrame(data, USER_RATE, 1, len(data) // 2)


class PipeOutput(io.AudioOutput):
    """Sends the assistant's audio to the bench, which plays it in real time."""

    def __init__(self, pipe, rate):
        super().__init__(label="bench", capabilities=io.AudioOutputCapabilities(pause=False), sample_rate=rate)
        self._pipe = pipe
        self._pushed = 0.0
        self._began = 0.0
        self._waiting = None

    async def capture_frame(self, frame):
        await super().capture_frame(frame)
        if not self._pushed:
            self._began = time.monotonic()
            self.on_playback_started(created_at=time.time())
        self._pushed += frame.duration
        self._pipe.play(frame.sample_rate, bytes(frame.data))
        await asyncio.sleep(0)

    def flush(self):
        super().flush()
        if self._pushed:
            self._waiting = asyncio.create_task(self._play_out(self._pushed, self._began))

    def clear_buffer(self):
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
        if self._pushed:
            self._pipe.flush()
            played = min(self._pushed, time.monotonic() - self._began)
            self._pushed = 0.0
            self.on_playback_finished(playback_position=played, interrupted=True)

    async def _play_out(self, pushed, began):
        await asyncio.sleep(max(0.0, began + pushed - time.monotonic()))
        self._pushed, self._waiting = 0.0, None
        self.on_playback_finished(playback_position=pushed, interrupted=False)


class Whisper(stt.STT):
    """faster-whisper on whole utterances."""

    def __init__(self, folder, pipe):
        super().__init__(capabilities=stt.STTCapabilities(streaming=False, interim_results=False))
        self._model = WhisperModel(folder, device="cpu", compute_type="int8")
        self._pipe = pipe

    async def _recognize_impl(self, buffer, *, language=NOT_GIVEN, conn_options=DEFAULT_API_CONNECT_OPTIONS):
        frame = rtc.combine_audio_frames(buffer)
        if frame.sample_rate != USER_RATE:
            resampler = rtc.AudioResampler(frame.sample_rate, USER_RATE)
            frame = rtc.combine_audio_frames([*resampler.push(frame), *resampler.flush()])
        samples = np.frombuffer(frame.data, np.int16).astype(np.float32) / 32768.0
        text = await asyncio.to_thread(self._read, samples)
        self._pipe.heard(text)
        return stt.SpeechEvent(
            type=stt.SpeechEventType.FINAL_TRANSCRIPT, alternatives=[stt.SpeechData(language="en", text=text)]
        )

    def _read(self, samples):
        segments, _ = self._model.transcribe(samples, language="en", beam_size=1)
        return " ".join(segment.text.strip() for segment in segments)


class Piper(tts.TTS):
    """Piper, synthesizing whole sentences."""

    def __init__(self, file):
        self._voice = PiperVoice.load(file)
        super().__init__(
            capabilities=tts.TTSCapabilities(streaming=False),
            sample_rate=self._voice.config.sample_rate,
            num_channels=1,
        )

    def synthesize(self, text, *, conn_options=DEFAULT_API_CONNECT_OPTIONS):
        return _Stream(tts=self, input_text=text, conn_options=conn_options, voice=self._voice)


class _Stream(tts.ChunkedStream):
    def __init__(self, *, tts, input_text, conn_options, voice):
        super().__init__(tts=tts, input_text=input_text, conn_options=conn_options)
        self._piper = voice

    async def _run(self, output_emitter):
        output_emitter.initialize(
            request_id=utils.shortuuid(), sample_rate=self._tts.sample_rate, num_channels=1, mime_type="audio/pcm"
        )
        chunks = await asyncio.to_thread(lambda: list(self._piper.synthesize(self._input_text)))
        for chunk in chunks:
            output_emitter.push(chunk.audio_int16_bytes)
        output_emitter.flush()


async def main():
    pipe, given = Pipe(), settings()
    voice = Piper(given["voice"])
    vad = VAD()
    session = AgentSession(
        vad=vad,
        stt=stt.StreamAdapter(stt=Whisper(given["whisper"], pipe), vad=vad),
        llm=openai.LLM(
            model=given["model"],
            base_url=given["url"],
            api_key=given["key"] or "none",
            temperature=0.3,
            max_completion_tokens=160,
        ),
        tts=voice,
        turn_handling={"turn_detection": "vad"},
    )
    session.input.audio = PipeInput(pipe)
    session.output.audio = PipeOutput(pipe, voice.sample_rate)
    await session.start(Agent(instructions=given["persona"]))
    pipe.ready()
    await asyncio.Event().wait()


asyncio.run(main())
