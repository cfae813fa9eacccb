"""metrics/tallyfs.pb, as protoc decodes it with the messages of client_model.proto; and values of
a text, to compare them."""
import ast
import pathlib
import subprocess

HERE = pathlib.Path(__file__).parent


def _as_fields(data):
    """Each delimited message as field 1 of one: behind its length, a varint, stands the message."""
    fields, at = bytearray(), 0
    while at < len(data):
        begin, size, shift = at, 0, 0
        while True:
            byte, at = data[at], at + 1
            size |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        at += size
        fields += b"\x0a" + data[begin:at]
    assert at == len(data), "the last message is cut off"
    return bytes(fields)


def _decode(message):
    """[(field, text or list of fields)] of Families."""
    said = subprocess.run(
        ["protoc", f"--proto_path={HERE}", "client_model.proto",
         "--decode=io.prometheus.client.Families"],
        input=message, check=True, capture_output=True).stdout.decode()
    top, stack = [], []
    for line in map(str.strip, said.splitlines()):
        if line.endswith("{"):
            inner = []
            top.append((line[:-1].strip(), inner))
            stack.append(top)
            top = inner
        elif line == "}":
            top = stack.pop()
        else:
            top.append(tuple(line.split(": ", 1)))
    return top


def one(fields, key, default=None):
    return next((value for name, value in fields if name == key), default)


def all_of(fields, key):
    return [value for name, value in fields if name == key]


def _unquoted(text):
    return ast.literal_eval("b" + text).decode()


def _add_histogram(values, name, labels, histogram):
    def enter(end, number, **more):
        values[name + end, frozenset({**labels, **more}.items())] = float(number)
    enter("_sum", one(histogram, "sample_sum", "0"))
    enter("_count", one(histogram, "sample_count", "0"))
    enter("_bucket", one(histogram, "sample_count", "0"), le="+Inf")
    for bucket in all_of(histogram, "bucket"):
        enter("_bucket", one(bucket, "cumulative_count", "0"),
              le=float(one(bucket, "upper_bound", "0")))


def values_of(families):
    """Values by (name, labels) of what a parser made of a text."""
    values = {}
    for family in families:
        for sample in family.samples:
            labels = dict(sample.labels)
            if labels.get("le", "+Inf") != "+Inf":
                labels["le"] = float(labels["le"])
            values[sample.name, frozenset(labels.items())] = sample.value
    return values


def steady(series):
    """Without what each open changes: the daemon's own numbers, and newest periods."""
    return {(name, labels): value for (name, labels), value in series.items()
            if ("interface", "tallyfs") not in labels and not name.startswith("tally_metrics_")
            and "period" not in name}


def read_series(path):
    """Values by (name, labels) as the text has them, and the native histograms by the same."""
    values, native = {}, {}
    for family in all_of(_decode(_as_fields(pathlib.Path(path).read_bytes())), "family"):
        name = _unquoted(one(family, "name"))
        for metric in all_of(family, "metric"):
            labels = {_unquoted(one(pair, "name")): _unquoted(one(pair, "value"))
                      for pair in all_of(metric, "label")}
            for number in all_of(metric, "counter") + all_of(metric, "gauge"):
                values[name, frozenset(labels.items())] = float(one(number, "value", "0"))
            for histogram in all_of(metric, "histogram"):
                _add_histogram(values, name, labels, histogram)
                if one(histogram, "schema") is not None:
                    native[name, frozenset(labels.items())] = histogram
    return values, native


def positive_counts(histogram):
    """{index: count} of the buckets above 0 that counted, by ascending index."""
    return _counts(histogram, "positive")


def counts_below(histogram):
    """The same of the buckets below 0: by the index of X without its sign."""
    return _counts(histogram, "negative")


def _counts(histogram, side):
    found, index, count = {}, 0, 0
    deltas = [int(delta) for delta in all_of(histogram, f"{side}_delta")]
    for span in all_of(histogram, f"{side}_span"):
        index += int(one(span, "offset", "0"))
        for _ in range(int(one(span, "length", "0"))):
            count += deltas.pop(0)
            if count:
                found[index] = count
            index += 1
    assert not deltas
    return found
