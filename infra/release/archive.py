#!/usr/bin/env python3
"""Packs a folder as NAME.tar.gz: the same files make the same bytes.

    archive.py FOLDER ARCHIVE SECONDS     every entry has this time (seconds since 1970), and belongs to root
"""

import gzip
import pathlib
import sys
import tarfile


def main():
    folder, archive, seconds = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])

    def plain(entry):
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        entry.mtime = seconds
        entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
        return entry

    # The stream's own header has a name and a time too.
    with open(archive, "wb") as file, gzip.GzipFile("", "wb", 9, file, seconds) as stream:
        with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as packed:
            # By name; `add` would go in the order of the disk.
            for path in [folder, *sorted(folder.rglob("*"))]:
                packed.add(path, path.relative_to(folder.parent), recursive=False, filter=plain)
    return 0


if __name__ == "__main__":
    sys.exit(main())
