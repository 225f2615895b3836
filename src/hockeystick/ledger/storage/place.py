"""Where a ledger is kept: a file of SQLite, or a database of PostgreSQL by its URL.  A network file system is refused."""

import os
import re
import sys
from pathlib import Path

from ...errors import BadType, BadValue

NETWORK = {"nfs", "nfs4", "cifs", "smb2", "smb3", "smbfs", "afs", "afpfs", "ncpfs", "coda", "9p", "ceph", "glusterfs", "lustre"}
NETWORK |= {"gpfs", "beegfs", "orangefs", "pvfs2", "webdav", "davfs", "davfs2", "fuse.sshfs", "fuse.glusterfs", "fuse.s3fs"}
NETWORK |= {
    "fuse.rclone",
    "fuse.gcsfuse",
    "fuse.ceph",
    "fuse.davfs2",
    "fuse.juicefs",
    "fuse.cephfs",
    "acfs",
    "vboxsf",
    "virtiofs",
}
"""File systems of several machines, or of a machine and its guests: their locks do not keep two writers apart for certain."""


def place(where: object) -> str | Path:
    """A file, or the URL of a PostgreSQL server in SQLAlchemy's words."""
    if isinstance(where, os.PathLike):
        where = os.fspath(where)
    if not isinstance(where, str) or not where or "\x00" in where:
        raise BadType(f"a ledger is {where!r}; allowed: the name of a file, or a URL such as postgresql://host/database.")
    scheme, separator, rest = where.partition("://")
    if not separator:
        return Path(where).expanduser().absolute()
    if scheme in ("postgresql", "postgres", "postgresql+psycopg"):
        return f"postgresql+psycopg://{rest}"
    if scheme == "sqlite":
        return place(rest.removeprefix("/"))
    raise BadValue(f"a ledger is at {scheme}://...; allowed: the name of a file (SQLite), or postgresql://user@host/database.")


def local(path: Path) -> None:
    """Raised where a file would be on a network file system, or its folder is missing."""
    folder = path.parent
    if not folder.is_dir():
        raise BadValue(f"the folder {str(folder)!r} does not exist; allowed: a file in one that does.")
    if path.is_dir():
        raise BadValue(f"{str(path)!r} is a folder; allowed: the name of a file.")
    kind = kind_of(folder.resolve())
    if kind in NETWORK:
        raise BadValue(
            f"{str(path)!r} is on a network file system ({kind}), whose locks do not keep two writers apart; "
            "allowed: a file on a disk of this machine.  For several machines use PostgreSQL: postgresql://user@host/database."
        )


def kind_of(folder: Path, mounts: str | None = None) -> str:
    """The file system of a folder, where the system says it (Linux: /proc/self/mounts)."""
    if mounts is None:
        try:
            mounts = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return _by_command(folder)
    best, found = -1, "unknown"
    for line in mounts.splitlines():
        _, point, kind, *_ = [*line.split(" "), "", "", ""]
        at = Path(point.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\"))
        if (folder == at or at in folder.parents) and len(at.parts) >= best:
            best, found = len(at.parts), kind
    return found


def _by_command(folder: Path) -> str:
    """Where there is no /proc (macOS): what the command `mount` lists, `/dev/disk1 on / (apfs, local)`."""
    if sys.platform != "darwin":
        return "unknown"
    import subprocess

    done = subprocess.run(["/sbin/mount"], capture_output=True, text=True, check=False)
    found = (re.fullmatch(r"(\S+) on (.*) \((\w+).*\)", line) for line in done.stdout.splitlines())
    return kind_of(folder, "\n".join(f"- {one[2].replace(' ', chr(92) + '040')} {one[3]}" for one in found if one))
