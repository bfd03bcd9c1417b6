"""Runs RealtimeSTT and RealtimeTTS as their author combines them: transcript, streamed completion, speech."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import openai
from pipe import USER_RATE, Pipe, settings
from RealtimeSTT import AudioToTextRecorder
from RealtimeTTS import TextToAudioStream
from RealtimeTTS.engines.piper_engine import PiperEngine, PiperVoice


def main():
    pipe, given = Pipe(), settings()
    # The engine runs the `piper` command for each sentence.
    piper = Path(sys.executable).with_name("piper")
    engine = PiperEngine(str(piper), PiperVoice(given["voice"]))
    rate = engine.get_stream_info()[2]
    client = openai.OpenAI(api_key=given["key"] or "none", base_url=given["url"])
    spoken_over = threading.Event()
    recorder = AudioToTextRecorder(
        model=given["whisper"],
        language="en",
        compute_type="int8",
        device="cpu",
        use_microphone=False,
        spinner=False,
        no_log_file=True,
        on_recording_start=spoken_over.set,
    )

    def listen():
        while (data := pipe.read()) is not None:
            recorder.feed_audio(data, original_sample_rate=USER_RATE)
        os._exit(0)

    messages = [{"role": "system", "content": given["persona"]}]
    threading.Thread(target=listen, daemon=True).start()
    pipe.ready()
    stream = TextToAudioStream(engine, muted=True, tokenizer="rule-based")
    while True:
        words = recorder.text()
        if not words.strip():
            continue
        pipe.heard(words)
        spoken_over.clear()
        messages.append({"role": "user", "content": words})
        said: list[str] = []

        def answer(said=said, asked=tuple(messages)):
            found = client.chat.completions.create(
                model=given["model"], messages=list(asked), temperature=0.3, max_tokens=160, stream=True
            )
            for chunk in found:
                if chunk.choices and (piece := chunk.choices[0].delta.content):
                    said.append(piece)
                    yield piece

        stream.feed(answer())
        stream.play_async(on_audio_chunk=lambda chunk: pipe.play(rate, bytes(chunk)), muted=True)
        watcher = threading.Thread(target=_stop_when, args=(stream, spoken_over, pipe), daemon=True)
        watcher.start()
        watcher.join()
        messages.append({"role": "assistant", "content": "".join(said)})


def _stop_when(stream, spoken_over, pipe):
    """Waits until the answer is synthesised; stops it if the user speaks."""
    while stream.is_playing():
        if spoken_over.wait(0.02):
            stream.stop()
            pipe.flush()
            return


if __name__ == "__main__":
    main()
