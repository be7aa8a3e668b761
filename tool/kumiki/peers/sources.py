"""The sources of the measuring programs, which are installed with Kumiki, and the folder for the programs that are
built from them.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

from kumiki.errors import ExitCode, UserError
from kumiki.machine.native import Native, mend

PROGRAMS = Path("libexec", "kumiki")
"""The folder in which a build places its programs."""


def of(native: Native) -> Path:
    """The folder of the sources; raises UserError if they are not installed."""
    found = native.prefix / "share" / "kumiki" / "source"
    if not (found / "CMakeLists.txt").is_file():
        raise UserError(
            f"the sources of the measuring programs are not installed: {found} is missing; {mend()}",
            ExitCode.ENVIRONMENT,
        )
    return found


def cache() -> Path:
    """The user's folder for files that can be created again, by the XDG specification."""
    folder = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (folder if folder.is_absolute() else Path.home() / ".cache") / "kumiki" / "peers"


def programs(name: str, kind: str, prefix: Path, version: str, native: Native) -> Path:
    """The folder of a peer's programs, whether they exist or not. Each version of the peer has its own, and so has each
    build of Kumiki.
    """
    key = hashlib.sha256()
    facts = [name, kind, str(prefix), str(prefix.resolve()), version, str(native.prefix), native.build()]
    key.update(json.dumps(facts).encode(errors="surrogateescape"))
    root = of(native)
    for file in sorted(path for path in root.rglob("*") if path.is_file()):
        key.update(str(file.relative_to(root)).encode(errors="surrogateescape"))
        key.update(hashlib.sha256(file.read_bytes()).digest())
    return cache() / f"{name}-{key.hexdigest()[:16]}" / PROGRAMS
