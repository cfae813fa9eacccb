"""Holds each wing of the core to a namespace of its own: core/statistics is tallyfs::statistics.

A file of a wing opens that namespace, or one inside it, and no other of tallyfs. No file outside of
the wings opens it: there the names have the prefix.
"""
import re

from drawing import room_of
from fence import WINGS

OPENED = re.compile(r"^namespace ([\w:]+) \{$", re.MULTILINE)


def namespace_of(wing):
    return "tallyfs::" + wing.rpartition("/")[2]


def is_in(name, outer):
    return (name + "::").startswith(outer + "::")


def namespace_faults(files):
    for file in files:
        wing = room_of(file.path, WINGS)
        for name in OPENED.findall(file.text):
            if wing and name.startswith("tallyfs") and not is_in(name, namespace_of(wing)):
                yield f"{file.path}: opens {name}, which is not its wing's namespace"
            if not wing and any(is_in(name, namespace_of(other)) for other in WINGS):
                yield f"{file.path}: opens {name}, the namespace of a wing"
