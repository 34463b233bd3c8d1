"""What the package's page on an index shows: the README and a list of links, which lead to where the sources are."""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

RELATIVE = re.compile(r"\[([^\]]+)\]\((?!https?://)([^)\s]+)\)")


class Page(MetadataHookInterface):
    """On the page of an index a link to a file beside the README leads nowhere.

    ``STRUCTSVM_SOURCE_URL`` is the address of the files of this version, with a slash at its end: a release says it. In
    builds that know none, such links are plain text, and there is no list of links.
    """

    def update(self, metadata: dict[str, Any]) -> None:
        address = os.environ.get("STRUCTSVM_SOURCE_URL", "")
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        text = RELATIVE.sub(rf"[\1]({address}\2)" if address else r"\1", text)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        files = {"Source": "", "Documentation": "docs/index.md", "Changelog": "CHANGELOG.md"}
        metadata["urls"] = {label: address + path for label, path in files.items()} if address else {}
