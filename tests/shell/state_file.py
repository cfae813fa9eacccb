"""Files of --state as core/state/FORMAT.md has them, for tests that damage or change them."""
import struct
from collections import namedtuple

HEADER_BYTES = 48
HEAD = struct.Struct("<4sHHIII")
# At which byte it begins, where its contents begin, and where it ends.
Object = namedtuple("Object", "kind label begin contents end")


def objects_of(state):
    """All of a whole file but its end mark."""
    found, at = [], HEADER_BYTES
    while True:
        mark, kind, _, label, size, _ = HEAD.unpack_from(state, at)
        assert mark == b"OBJ:", at
        name = at + HEAD.size
        contents = name + label + 4
        if kind == 0:
            return found
        found.append(Object(kind, state[name:name + label].decode(), at, contents,
                            contents + size))
        at = contents + size


def crc32c(data, begun=0):
    crc = ~begun & 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return ~crc & 0xffffffff


def of_another_boot(state):
    """The same file with the identifier of another boot, and so with other checksums."""
    changed = bytearray(state)
    changed[12] ^= 1
    header = crc32c(changed[:44])
    struct.pack_into("<I", changed, 44, header)
    objects = objects_of(state)
    end_mark = objects[-1].end if objects else HEADER_BYTES
    for begin, contents in [each[2:4] for each in objects] + [(end_mark, end_mark + HEAD.size + 4)]:
        struct.pack_into("<I", changed, contents - 4, crc32c(changed[begin:contents - 4], header))
    return bytes(changed)
