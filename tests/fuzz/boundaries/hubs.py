"""What a hub of models sends: the listing of a repository, its config, its files; and the feed of new versions."""

import asyncio
import hashlib
import json
import struct
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from app.models.catalogue import ModelError
from app.models.hub import HubDownload
from app.models.layout import read_layout
from app.services import updates
from app.session.control import UserError
from tests.fuzz.boundary import Boundary
from tests.fuzz.mutations import changed_bytes, framed, json_bytes, unframed
from tests.fuzz.server import Delivered, serving

_HEADER = {"w": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}, "__metadata__": {"format": "pt"}}


def _weights(header: bytes) -> bytes:
    return struct.pack("<Q", len(header)) + header + bytes(16)


_LM = _weights(json.dumps(_HEADER).encode())
_CONFIG = {"moshi_name": "lm.safetensors", "mimi_name": "mimi.safetensors", "tokenizer_name": "t.model", "dim": 4}
_FILES = {
    "lm.safetensors": _LM,
    "mimi.safetensors": _LM,
    "t.model": b"spm",
    "config.json": json.dumps(_CONFIG).encode(),
}


def _entry(name: str) -> dict[str, Any]:
    data = _FILES[name]
    large = {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 130}
    return {"rfilename": name, "size": len(data), **({"lfs": large} if name.startswith("lm") else {})}


_LISTING = {"id": "a/b", "modelId": "a/b", "sha": "f" * 40, "siblings": [_entry(name) for name in _FILES]}
_WHAT = st.fixed_dictionaries(
    {"what": st.sampled_from(["listing", *_FILES]), "status": st.sampled_from([200] * 9 + [206, 302, 404, 500])}
)


async def _hub(data: bytes, folder: Path) -> str:
    """Downloads a repository, of whose answers one is not what it should be."""
    head, changed = unframed(data)

    def answer(path: str, body: bytes) -> Delivered:
        name = path.partition("?")[0].rpartition("/")[2] if "/resolve/" in path else "listing"
        if name == head["what"]:
            status = int(head["status"])
            return Delivered(changed, status, {"Location": "/elsewhere"} if status == 302 else {})
        if name == "listing":
            wrong = {**_entry("t.model"), "rfilename": head["what"], "size": len(changed)}
            entries = [wrong if n == head["what"] else _entry(n) for n in _FILES]
            return Delivered(json.dumps({**_LISTING, "siblings": entries}).encode())
        return Delivered(_FILES[name]) if name in _FILES else Delivered(b"", 404)

    place = folder / "weights"
    async with serving(answer) as address:
        try:
            await asyncio.to_thread(HubDownload(place, hub=address).fetch_repository, "a/b")
        except ModelError as error:
            return str(error)
        finally:
            written = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
            assert written < sum(map(len, _FILES.values())) + len(changed) + 4_000, f"{written} bytes were written"
    return ""


async def _layout(data: bytes, folder: Path) -> str:
    """Looks at a folder of weights, of which the config or a file's header is not what it should be."""
    head, changed = unframed(data)
    for name, content in _FILES.items():
        (folder / name).write_bytes(content)
    name = str(head["what"]) if head["what"] != "listing" else "lm.safetensors"
    (folder / name).write_bytes(_weights(changed) if name.startswith("lm") else changed)
    try:
        await asyncio.to_thread(read_layout, folder)
    except ModelError as error:
        return str(error)
    return ""


_FEED = [{"version": "1.2.3", "page": "https://example.org/kame/1.2.3"}]


async def _updates(data: bytes, folder: Path) -> str:
    try:
        updates._read(data)
    except UserError as error:
        return str(error)
    return ""


_ANY = json_bytes([_LISTING, _CONFIG, _HEADER]) | changed_bytes(list(_FILES.values()))
BOUNDARIES = (
    Boundary("hub", framed(_WHAT, _ANY), _hub),
    Boundary("weights", framed(_WHAT, json_bytes([_CONFIG, _HEADER])), _layout),
    Boundary("updates", json_bytes(_FEED), _updates),
)
