"""The published weights that this app knows by name: where they are, how big, under which licence."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import platformdirs


@dataclass(frozen=True, slots=True)
class Published:
    """One set of weights on the hub. `bytes`: about what its download brings. `oracle`: it has learnt one."""

    key: str
    repository: str
    label: str
    bytes: int
    oracle: bool
    licence: str


PUBLISHED = {
    known.key: known
    for known in (
        Published("kame", "SakanaAI/kame", "KAME", 16_200_000_000, True, "CC-BY-4.0"),
        Published("moshiko", "kyutai/moshiko-pytorch-bf16", "Moshi, the male voice (Moshiko)", 15_800_000_000, False,
                  "CC-BY-4.0"),
        Published("moshika", "kyutai/moshika-pytorch-bf16", "Moshi, the female voice (Moshika)", 15_800_000_000, False,
                  "CC-BY-4.0"),
    )
}  # fmt: skip

DEFAULT_WEIGHTS = {"kame": "kame", "moshi": "moshiko"}
"""The weights of each front-end that needs some."""


def weights_root() -> Path:
    """Where downloads go unless the user says otherwise."""
    return platformdirs.user_data_path("kame-desktop", appauthor=False) / "weights"


def folder_of(key: str, root: str | Path = "") -> Path:
    """The folder of one of `PUBLISHED`, or of any `owner/name` on the hub."""
    name = PUBLISHED[key].repository if key in PUBLISHED else key
    return (Path(root) if root else weights_root()) / name.replace("/", "--")
