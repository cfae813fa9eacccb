"""Samples as this process holds them: 32 bytes each, X, Y, time and the id of their statistic.

Pure functions, for any thread; and `gathered`, the list to which all threads append. The GIL makes
list.append atomic (or the list's own lock, without a GIL), so adding takes no lock."""
import array
import collections
import struct
from time import monotonic_ns as _now

from .wire import DATAGRAM_BYTES, HEADER_BYTES, SAMPLES_BYTES

# X, Y, time in nanoseconds, the statistic's id in this process.
pack = struct.Struct("=qQqq").pack
RECORD_BYTES = 32
id_of = struct.Struct("=24xq").unpack
# The samples that a datagram holds if every Y is 1.
FULL = (DATAGRAM_BYTES - HEADER_BYTES - SAMPLES_BYTES) // 16
ONES = array.array("q", [1]) * FULL

gathered = []  # packed samples; emptied under the exclusion only

_unpack = struct.Struct("=24sq").iter_unpack


def pack_columns(xs, ys, times_ns, each):
    """Samples of one statistic, packed; the columns are array("q") of one length."""
    records = array.array("q", bytes(RECORD_BYTES * len(xs)))
    ids = array.array("q", [each]) * len(xs)
    for place, column in enumerate((xs, ys, times_ns, ids)):
        records[place::4] = column
    return records.tobytes()


def ids_of(records):
    """The statistics' ids of packed samples, array("q")."""
    return _numbers(records)[3::4]


def by_statistic(records):
    """{id: (X, Y, times)} of packed samples; the columns are array("q")."""
    numbers = _numbers(records)
    ids = numbers[3::4]
    if ids == ids[:1] * len(ids):
        return {ids[0]: (numbers[0::4], numbers[1::4], numbers[2::4])}
    groups = collections.defaultdict(list)
    for values, each in _unpack(records):
        groups[each].append(values)
    columns = {}
    for each, values in groups.items():
        numbers = _numbers(b"".join(values))
        columns[each] = numbers[0::3], numbers[1::3], numbers[2::3]
    return columns


def _numbers(records):
    numbers = array.array("q")
    numbers.frombytes(records)
    return numbers


def to_columns(xs, ys, times_ns):
    """((X, Y, times), invalid, example): of add_batch()'s arguments the samples, as array("q") of
    one length; how many others there are, which are no samples; and the values of one of those."""
    ys, times_ns = 1 if ys is None else ys, 0 if times_ns is None else times_ns
    xs, ys, times_ns = map(_readable_twice, (xs, ys, times_ns))
    try:
        columns = [_column(xs, "q")]
        count = len(columns[0])
        columns += [_column_or_one(ys, "Q", count), _times(times_ns, count)]
        if all(len(column) == count for column in columns):
            return columns, 0, ()
    except (OverflowError, TypeError):
        pass  # some of them are no samples
    return _sift(xs, ys, times_ns)


def _readable_twice(values):
    return list(values) if hasattr(values, "__next__") else values


# As to_columns(), one by one.
def _sift(xs, ys, times_ns):
    rows = _list_of(xs, 1)
    columns = [rows, _list_of(ys, len(rows)), _list_of(times_ns, len(rows))]
    if any(len(column) != len(rows) for column in columns):
        return (), max(map(len, columns)), (xs, ys, times_ns)
    good, example = [], ()
    for row in zip(*columns):
        try:
            pack(*row, 0)
            good.append(row)
        except struct.error:
            example = example or row
    columns = to_columns(*zip(*good))[0] if good else ()
    return columns, len(rows) - len(good), example


def _list_of(values, count):
    try:
        return list(values)
    except TypeError:
        return [values] * count


def _times(times_ns, count):
    now = _now()
    if isinstance(times_ns, int):
        return _column_or_one(times_ns or now, "q", count)
    times = _column(times_ns, "q")
    return array.array("q", [time_ns or now for time_ns in times]) if 0 in times else times


def _column_or_one(values, code, count):
    return _column([values], code) * count if isinstance(values, int) else _column(values, code)


def _column(values, code):
    if _is_buffer_of(values, "ql" if code == "q" else "QL"):
        column = array.array(code)
        column.frombytes(memoryview(values).cast("B"))
    else:
        # array() would copy the bits of a bytes object instead of its numbers.
        column = array.array(code, values if isinstance(values, (list, tuple)) else iter(values))
    return column if code == "q" else array.array("q", column.tobytes())


def _is_buffer_of(values, codes):
    try:
        view = memoryview(values)
    except TypeError:
        return False
    return view.c_contiguous and view.itemsize == 8 and view.format in codes
