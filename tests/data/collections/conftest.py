from pathlib import Path

import pytest


@pytest.fixture
def write(tmp_path):
    def to_file(content: str | bytes, name: str = "file.txt") -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return to_file
