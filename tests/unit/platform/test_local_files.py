"""Files whose paths others may have written."""

from pathlib import Path

import pytest

from app.backend.base import BackendError
from app.backend.embedded_models import model_file
from app.platform.files import is_local_file


@pytest.mark.parametrize(
    "path",
    [
        "\\\\evil.example\\share\\m.gguf",
        "//evil.example/share/m.gguf",
        "\\/evil.example/share/m.gguf",
        "\\\\?\\UNC\\evil.example\\share\\m.gguf",
        "\\\\.\\pipe\\m.gguf",
        "CON",
        "nul.gguf",
        "C:\\models\\COM1.gguf",
        "/dev/zero",
        "/dev/null",
        "m\0.gguf",
        "",
        ".",
    ],
)
def test_what_is_no_file_here_is_no_model(path: str) -> None:
    assert not is_local_file(path)
    if path:
        with pytest.raises(BackendError, match="no model file"):
            model_file(path)


def test_a_file_here_is_one(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    assert is_local_file(tmp_path / "m.gguf") and is_local_file(str(tmp_path / "m.gguf"))
    assert not is_local_file(tmp_path) and not is_local_file(tmp_path / "other.gguf")
