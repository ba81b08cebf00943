"""Files as a whole: regular ones are read, and written so that others never see a part."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from pathlib import Path

NO_LINKS = frozenset({errno.EPERM, errno.ENOSYS, errno.EMLINK, errno.EXDEV, errno.EOPNOTSUPP, errno.ENOTSUP})
"""What file systems without hard links say."""


def check_regular(mode: int, path: str | os.PathLike[str]) -> None:
    """Refuse the mode of a file that is no regular one. Raises OSError, IsADirectoryError for a directory."""
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "a directory: name a file", os.fspath(path))
    found = "a FIFO" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"
    message = f"{found} where a regular file is needed: write its content to a file first"
    raise OSError(errno.EINVAL, message, os.fspath(path))


def read(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a regular file. Raises OSError for a directory, a FIFO, a socket or a device."""
    # Opening a device can have effects, and the name may change before it is open.
    check_regular(Path(path).stat().st_mode, path)
    never_wait = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
    binary = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    descriptor = os.open(path, os.O_RDONLY | never_wait | binary)
    with open(descriptor, "rb") as file:  # noqa: PTH123 - of a descriptor
        check_regular(os.fstat(descriptor).st_mode, path)
        return file.read()


def write(path: Path, data: bytes, *, force: bool) -> None:
    """Write a file of mode 0600, as a whole or not at all.

    force: whether what has this name is replaced. FileExistsError says so otherwise, also of a link to nothing, and to
        all but one of several that write at once.
    """
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        made = Path(file.name)
        try:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            file.close()
            if force:
                made.replace(path)
            else:
                _keeping(made, path)
        except BaseException:
            made.unlink(missing_ok=True)
            raise


def _keeping(made: Path, path: Path) -> None:
    """Give a file its name, which nothing may have."""
    try:
        try:
            path.hardlink_to(made)
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            # The name is taken by an empty file, which the whole one replaces.
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            try:
                made.replace(path)
            except BaseException:
                path.unlink(missing_ok=True)
                raise
    except FileExistsError:
        message = f"{path}: the file exists: pass force=True to replace it, or choose another name"
        raise FileExistsError(message) from None
    made.unlink(missing_ok=True)
