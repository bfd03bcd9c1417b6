"""Runs a Pipecat pipeline with default settings: Silero, Smart Turn, faster-whisper, an OpenAI client, Piper."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from pipe import USER_RATE, Pipe, settings
from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.frames.frames import InputAudioRawFrame, InterruptionFrame, TranscriptionFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair, LLMUserAggregatorParams
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.services.openai.llm import OpenAILLMService
from pipecat.services.piper.tts import PiperTTSService
from pipecat.services.whisper.stt import WhisperSTTService
from pipecat.transports.base_input import BaseInputTransport
from pipecat.transports.base_output import BaseOutputTransport
from pipecat.transports.base_transport import TransportParams
from pipecat.workers.runner import WorkerRunner


class PipeInput(BaseInputTransport):
    """Receives the user's audio from the bench."""

    def __init__(self, params, pipe):
        super().__init__(params)
        self._pipe = pipe
        self._reading = None

    async def start(self, frame):
        await super().start(frame)
        await self.set_transport_ready(frame)
        if self._reading is None:
            self._reading = asyncio.create_task(self._read())

    async def _read(self):
        self._pipe.ready()
        while (data := await asyncio.to_thread(self._pipe.read)) is not None:
            await self.push_audio_frame(InputAudioRawFrame(audio=data, sample_rate=USER_RATE, num_channels=1))
        os._exit(0)


class PipeOutput(BaseOutputTransport):
    """Sends the assistant's audio to the bench in real time, as a sound card would take it."""

    def __init__(self, params, pipe):
        super().__init__(params)
        self._pipe = pipe
        self._due = 0.0

    async def start(self, frame):
        await super().start(frame)
        await self.set_transport_ready(frame)

    async def write_audio_frame(self, frame):
        self._pipe.play(frame.sample_rate, frame.audio)
        now = time.monotonic()
        self._due = max(self._due, now) + len(frame.audio) / 2 / frame.sample_rate
        await asyncio.sleep(max(0.0, self._due - now - 0.04))
        return True

    async def process_frame(self, frame, direction):
        if isinstance(frame, InterruptionFrame):
            self._due = 0.0
            self._pipe.flush()
        await super().process_frame(frame, direction)


class Told(FrameProcessor):
    """Passes all frames through and reports recognised words to the bench."""

    def __init__(self, pipe):
        super().__init__()
        self._pipe = pipe

    async def process_frame(self, frame, direction):
        await super().process_frame(frame, direction)
        if isinstance(frame, TranscriptionFrame):
            self._pipe.heard(frame.text)
        await self.push_frame(frame, direction)


async def main():
    pipe, given = Pipe(), settings()
    voice = Path(given["voice"])
    params = TransportParams(audio_in_enabled=True, audio_out_enabled=True)
    stt = WhisperSTTService(
        device="cpu", compute_type="int8", settings=WhisperSTTService.Settings(model=given["whisper"])
    )
    llm = OpenAILLMService(
        api_key=given["key"] or "none",
        base_url=given["url"],
        settings=OpenAILLMService.Settings(model=given["model"], temperature=0.3, max_tokens=160),
    )
    tts = PiperTTSService(settings=PiperTTSService.Settings(voice=voice.stem), download_dir=voice.parent)
    context = LLMContext([{"role": "system", "content": given["persona"]}])
    user, assistant = LLMContextAggregatorPair(
        context, user_params=LLMUserAggregatorParams(vad_analyzer=SileroVADAnalyzer())
    )
    stages = [PipeInput(params, pipe), stt, Told(pipe), user, llm, tts, PipeOutput(params, pipe), assistant]
    worker = PipelineWorker(
        Pipeline(stages),
        params=PipelineParams(audio_in_sample_rate=USER_RATE, audio_out_sample_rate=22_050),
        idle_timeout_secs=None,
    )
    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    await runner.run()


asyncio.run(main())
