"""The package's page on an index: the README and a list of links."""

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

RELATIVE = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?://)([^)\s]+)\)")
IMAGE = re.compile(r"!\[([^\]]+)\]\((?!https?://)([^)\s]+)\)\n*")


class Page(MetadataHookInterface):
    """Point the links of the README at the sources of the release, and list the links of the project.

    A link to a file beside the README leads nowhere on the page of an index. Two variables, which
    .github/workflows/release.yml sets, give the addresses, each with a slash at its end:

    - ``STRUCTSVM_SOURCE_URL``: the files of this version. A build without it shows links as plain text, leaves
      out images and lists no links.
    - ``STRUCTSVM_DOCS_URL``: the built site. Default: its pages among the sources.
    """

    def update(self, metadata: dict[str, Any]) -> None:
        sources = os.environ.get("STRUCTSVM_SOURCE_URL", "")
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        text = RELATIVE.sub(rf"[\1]({sources}\2)" if sources else r"\1", text)
        pictures = sources.replace("/blob/", "/raw/")  # GitHub's address of a file itself
        text = IMAGE.sub(rf"![\1]({pictures}\2)\n\n" if sources else "", text)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        site = os.environ.get("STRUCTSVM_DOCS_URL") or f"{sources}docs/index.md"
        urls = {"Source": sources, "Documentation": site, "Changelog": f"{sources}CHANGELOG.md"}
        metadata["urls"] = urls if sources else {}
