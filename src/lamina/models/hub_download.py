"""Downloads model files from the hub, and resumes an interrupted download.

The hub's library knows the address of a file and whether the user wants no network; its own downloads start from the
beginning in every process, so the bytes are fetched here.
"""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from lamina.models.errors import ModelError, ModelMissing, ModelUnreachable
from lamina.models.model_files import ALL_FILES, DownloadProgress, ModelFile, ModelStore, sha256_of

TIMEOUT = 30.0
_BLOCK = 1 << 18
_RANGE_REFUSED = 416


def download_models(
    store: ModelStore,
    progress: DownloadProgress,
    files: Sequence[ModelFile] = ALL_FILES,
    *,
    endpoint: str | None = None,
    timeout: float = TIMEOUT,
) -> list[ModelFile]:
    """Fetch the files that are not in the store and return them; another process that does the same is waited for.
    Raises ModelUnreachable if the hub does not answer."""
    with store.locked():
        missing = [file for file in files if not store.is_intact(file)]
        for file in missing:
            _download_file(store, file, _file_address(file, endpoint), progress, timeout)
    return missing


def _file_address(file: ModelFile, endpoint: str | None) -> str:
    try:
        from huggingface_hub import constants, hf_hub_url
    except ModuleNotFoundError as error:
        raise ModelMissing(
            "the package huggingface_hub is not installed; install it, or use `lamina models add FOLDER`"
        ) from error
    if constants.HF_HUB_OFFLINE:
        raise _unreachable_error(file, "HF_HUB_OFFLINE is set")
    return hf_hub_url(file.repo, file.path, revision=file.revision, endpoint=endpoint)


def _download_file(
    store: ModelStore, file: ModelFile, address: str, progress: DownloadProgress, timeout: float
) -> None:
    part = store.folder / f"{file.sha256}.part"
    try:
        _receive(part, file, address, progress, timeout)
    except HTTPError as error:
        error.close()
        raise _unreachable_error(file, f"it answers {error.code} {error.reason}") from error
    except (OSError, HTTPException) as error:
        raise _unreachable_error(file, str(getattr(error, "reason", error)) or type(error).__name__) from error
    size = part.stat().st_size
    if size < file.size:
        raise _unreachable_error(file, f"the connection broke after {size} of {file.size} bytes, which are kept")
    if size > file.size or sha256_of(part) != file.sha256:
        part.unlink()
        raise ModelError(
            f"the hub's {file.repo}/{file.path} is not the file this version of lamina was tested with; "
            "upgrade lamina, or use `lamina models add FOLDER` with the right one"
        )
    store.move_into_place(part, file)


def _receive(part: Path, file: ModelFile, address: str, progress: DownloadProgress, timeout: float) -> None:
    offset = part.stat().st_size if part.exists() else 0
    if offset == file.size:
        return
    try:
        response = _open(address, offset, timeout)
    except HTTPError as error:
        if error.code != _RANGE_REFUSED:
            raise
        error.close()
        response = _open(address, 0, timeout)
    with response, part.open("ab" if response.status == 206 else "wb") as target:
        done = target.tell()
        while done <= file.size and (block := response.read(_BLOCK)):
            target.write(block)
            done += len(block)
            progress(file.name, done, file.size)


def _open(address: str, offset: int, timeout: float) -> HTTPResponse:
    headers = {"User-Agent": "lamina", **({"Range": f"bytes={offset}-"} if offset else {})}
    response = urlopen(Request(address, headers=headers), timeout=timeout, context=_certificate_context())
    assert isinstance(response, HTTPResponse)
    return response


def _certificate_context() -> ssl.SSLContext:
    """Return the system's certificates and, if certifi is installed, its certificates too."""
    context = ssl.create_default_context()
    try:
        import certifi
    except ModuleNotFoundError:
        return context
    context.load_verify_locations(certifi.where())
    return context


def _unreachable_error(file: ModelFile, why: str) -> ModelUnreachable:
    return ModelUnreachable(
        f"cannot get {file.name} from the hub: {why}; try again where there is a network, "
        "or copy the model files here and use `lamina models add FOLDER`"
    )
