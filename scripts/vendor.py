"""Fetch the browser's libraries into the package: exact versions, exact bytes, their licences beside them.

    python scripts/vendor.py            fetch the pinned files, and fail if a byte differs
    python scripts/vendor.py --pin      fetch them, and pin the bytes that were fetched

Needs npm. It does not run when lamina is built, installed or used: the files are part of the repository.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "src/lamina/web/static/vendor"
MANIFEST = FOLDER / "manifest.json"


@dataclass(frozen=True, slots=True)
class Package:
    """A package, the files taken from it and their names here."""

    name: str
    version: str
    licence: str
    files: dict[str, str]


PACKAGES = (
    Package("htmx.org", "2.0.11", "0BSD", {"dist/htmx.min.js": "htmx.min.js", "LICENSE": "htmx.LICENSE.txt"}),
    Package(
        "cytoscape",
        "3.34.4",
        "MIT",
        {"dist/cytoscape.esm.min.mjs": "cytoscape.esm.min.js", "LICENSE": "cytoscape.LICENSE.txt"},
    ),
    Package(
        "uplot",
        "1.6.32",
        "MIT",
        {"dist/uPlot.esm.js": "uplot.esm.js", "dist/uPlot.min.css": "uplot.min.css", "LICENSE": "uplot.LICENSE.txt"},
    ),
)


def main() -> None:
    pin = "--pin" in sys.argv[1:]
    FOLDER.mkdir(parents=True, exist_ok=True)
    pinned = {} if pin else {entry["file"]: entry["sha256"] for entry in _manifest()}
    entries = []
    for package in PACKAGES:
        for file, data in _fetched(package).items():
            digest = hashlib.sha256(data).hexdigest()
            if not pin and pinned.get(file) != digest:
                sys.exit(f"{file} of {package.name} {package.version} differs from the pinned bytes ({digest})")
            (FOLDER / file).write_bytes(data)
            entries.append(
                {
                    "file": file,
                    "name": package.name,
                    "version": package.version,
                    "licence": package.licence,
                    "sha256": digest,
                    "bytes": len(data),
                }
            )
    if pin:
        MANIFEST.write_text(json.dumps(entries, indent=2) + "\n", encoding="utf-8")
    sys.stdout.write(f"vendor: {len(entries)} files {'pinned' if pin else 'as pinned'}\n")


def _manifest() -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads(MANIFEST.read_text(encoding="utf-8"))
    return entries


def _fetched(package: Package) -> dict[str, bytes]:
    """Return the bytes of the package's files by their names here; nothing is written to a path in an archive."""
    with tempfile.TemporaryDirectory(prefix="lamina-vendor-") as folder:
        command = ["npm", "pack", f"{package.name}@{package.version}", "--silent", "--pack-destination", folder]
        subprocess.run(command, check=True, capture_output=True, timeout=300)
        (archive,) = Path(folder).glob("*.tgz")
        with tarfile.open(archive) as tar:
            return {ours: _member(tar, theirs) for theirs, ours in package.files.items()}


def _member(held: tarfile.TarFile, name: str) -> bytes:
    member = held.extractfile(f"package/{name}")
    if member is None:
        sys.exit(f"there is no {name} in the package")
    return member.read()


if __name__ == "__main__":
    main()
