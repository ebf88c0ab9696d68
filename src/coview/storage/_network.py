"""File systems that are shared over a network, where SQLite's write-ahead log does not work."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["is_on_network"]

_KINDS = {
    "9p",
    "afs",
    "beegfs",
    "ceph",
    "cifs",
    "fuse.glusterfs",
    "fuse.sshfs",
    "gpfs",
    "lustre",
    "nfs",
    "nfs4",
    "smb3",
}
_MOUNTS = Path("/proc/self/mounts")


def is_on_network(path: Path) -> bool:
    """Whether a file lies on a network file system, as far as the table of mounts tells."""
    try:
        lines = _MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    place = os.path.realpath(path)
    best = ("", "")
    for line in lines:
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        mount = fields[1].replace("\\040", " ").rstrip("/")
        if (place == mount or place.startswith(f"{mount}/")) and len(mount) >= len(best[0]):
            best = (mount, fields[2])
    return best[1] in _KINDS
