"""Writes cpio archives ("newc"), the form in which the kernel takes its first file system.

Written here rather than by cpio(1), because the guest's files must belong to root whoever runs the lab, and because
archives can then be joined: the kernel unpacks one after the other, so a new program costs a new last piece only.
"""

import stat
from pathlib import Path


class Archive:
    def __init__(self):
        self._entries = {}

    def add_file(self, name, path, executable=False):
        self._add(name, stat.S_IFREG | (0o755 if executable else 0o644), Path(path).read_bytes())

    def add_content(self, name, content):
        self._add(name, stat.S_IFREG | 0o644, content)

    def add_text(self, name, text):
        self._add(name, stat.S_IFREG | 0o644, text.encode())

    def add_link(self, name, target):
        self._add(name, stat.S_IFLNK | 0o777, target.encode())

    def add_folder(self, name, mode=0o755):
        self._add(name, stat.S_IFDIR | mode, b"")

    def _add(self, name, mode, content):
        parent = str(Path(name).parent)
        if parent != "." and parent not in self._entries:
            self.add_folder(parent)
        self._entries[name] = (mode, content)

    def write(self, path):
        with open(path, "wb") as file:
            for number, (name, (mode, content)) in enumerate(self._entries.items(), start=1):
                file.write(_entry(name, mode, content, number))
            file.write(_entry("TRAILER!!!", 0, b"", 0))
            file.write(bytes(-file.tell() % 512))


def _entry(name, mode, content, number):
    # inode, mode, uid, gid, links, time, size, device (2), special device (2), length of the name, checksum
    fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
    return head + bytes(-len(head) % 4) + content + bytes(-len(content) % 4)
