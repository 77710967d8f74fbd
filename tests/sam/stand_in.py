"""A stand-in for AWS's image of provided.al2023, for machines that cannot pull that: this machine's own
shell, C library and certificates, and nothing else. `sam local` lays the Runtime Interface Emulator over it.

    stand_in.py NAME BINARY     makes the image NAME, in which BINARY finds its libraries
"""

import io
import os
import pathlib
import re
import subprocess
import sys
import tarfile

# What `sam local` calls while it builds its own image on this one, and a shell to look around with.
PROGRAMS = ["sh", "mv", "chmod", "ls", "cat"]
CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
FOLDERS = ["tmp", "opt", "var/task", "var/runtime", "var/rapid", "dev", "proc", "sys"]
SAID = ["ENTRYPOINT [\"/var/rapid/aws-lambda-rie\"]", "WORKDIR /var/task", "ENV PATH=/bin",
        "ENV LAMBDA_TASK_ROOT=/var/task", f"ENV SSL_CERT_FILE={CERTIFICATES}"]


def libraries(program):
    """Where the loader finds what a program is linked with, the loader itself among it."""
    said = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"(/\S+) \(0x", said))


def found(name):
    for folder in os.get_exec_path():
        path = pathlib.Path(folder, name)
        if path.is_file():
            return path
    sys.exit(f"{name} is not there")


def image(binary):
    """The root file system as an archive."""
    programs = {name: found(name) for name in PROGRAMS}
    needed = set().union(*map(libraries, [binary, *programs.values()]))
    if pathlib.Path(CERTIFICATES).is_file():
        needed.add(CERTIFICATES)
    files = {f"bin/{name}": path.resolve() for name, path in programs.items()}
    files |= {path.lstrip("/"): path for path in sorted(needed)}
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", dereference=True) as archive:
        for folder in folders(files):
            entry = tarfile.TarInfo(folder)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if folder == "tmp" else 0o755
            archive.addfile(entry)
        for name, path in files.items():
            archive.add(path, name)
    return packed.getvalue()


def folders(files):
    """Every folder, those above it first: one that is not named would be closed to all but root."""
    inside = [pathlib.PurePath(folder) for folder in FOLDERS] + [pathlib.PurePath(name).parent for name in files]
    whole = {str(folder) for one in inside for folder in (one, *one.parents)}
    return sorted(whole - {"."})


def main():
    name, binary = sys.argv[1:3]
    changes = [f"--change={line}" for line in SAID]
    subprocess.run(["docker", "import", *changes, "-", name], input=image(binary), check=True, stdout=subprocess.DEVNULL)
    return 0


if __name__ == "__main__":
    sys.exit(main())
