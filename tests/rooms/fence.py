"""Holds two fences of the drawing: what the daemon can be built without, and between wings.

Rooms of FENCED speak public interfaces alone: files of the mount, libtally and core/base. They may
share what is made for programs, and one another's rooms as the drawing has it. An exception names
its reason, and is itself a fault when its arrow is no longer drawn.
"""
from drawing import PAGE, room_of

FENCED = ("tools", "exporters", "feeders/block", "feeders/log", "feeders/statsd", "feeders/tcp",
          "feeders/text", "feeders/timer")
PUBLIC = ("include/tally", "core/base", "program")
WINGS = ("core/statistics", "core/tracing", "core/latency_hist", "core/stats3")
EXCEPTIONS = {
    ("feeders/text", "core/statistics/definition"):
        "a map or rule is refused at the start if the daemon would refuse its definitions",
    ("tools/ctl", "core/statistics/exposition"):
        "a rule for Prometheus names the families as metrics/ names them",
    ("tools/ctl", "core/tracing/probe"):
        "lists of a program's functions are of the reader of ELF that finds them for uprobe_events",
    ("tools/ctl", "feeders/tracefs"):
        "probes that killed mounts have left are told from others by the lock of their group",
    ("feeders/statsd/listen", "feeders/socket_file"):
        "its own socket's file is locked and taken over as the daemon's is",
    ("feeders/block", "core/tracing/format"): "libtally has no parser of the kernel's formats",
    ("feeders/block", "feeders/tracefs"): "libtally does not read the kernel's buffers",
    ("feeders/block", "feeders/clock"): "a merged reader wants a Clock, and program_clock.h is one",
    ("feeders/timer", "feeders/clock"): "program_clock.h is sched_clock() with a fallback",
}


def fence_faults(arrows, exceptions=None):
    exceptions = EXCEPTIONS if exceptions is None else exceptions
    for room, targets in arrows.items():
        for target in sorted(targets):
            fenced = room_of(room, FENCED) and not room_of(target, FENCED + PUBLIC)
            if fenced and (room, target) not in exceptions:
                yield f"{PAGE}: {room} -> {target}, which is no public interface"
            wings = {room_of(room, WINGS), room_of(target, WINGS)} - {None}
            if len(wings) == 2:
                yield f"{PAGE}: {room} -> {target}, from wing to wing"
    for room, target in exceptions:
        if target not in arrows.get(room, ()):
            yield f"tests/rooms/fence.py: {room} -> {target} is not drawn any more"
