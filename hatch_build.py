"""What the package's page on an index shows: the README, whose links lead to where the sources are."""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

RELATIVE = re.compile(r"\[([^\]]+)\]\((?!https?://)([^)\s]+)\)")


class Readme(MetadataHookInterface):
    """On the page of an index a link to a file beside the README leads nowhere.

    ``STRUCTSVM_SOURCE_URL`` is the address of the files of this version, with a slash at its end: a release says it. In
    builds that know none, such links are plain text.
    """

    def update(self, metadata: dict[str, Any]) -> None:
        address = os.environ.get("STRUCTSVM_SOURCE_URL", "")
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        text = RELATIVE.sub(rf"[\1]({address}\2)" if address else r"\1", text)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
