"""What a reader of data.json makes of it: the text of definition and of data, byte for byte."""
import json
from decimal import Decimal


def parse(text):
    """The object, with integers of any length and decimals as they stand in the text."""
    return json.loads(text, parse_float=Decimal)


def timestamp(us):
    return f"[{us // 1_000_000}.{us % 1_000_000:06}]"


def definition_of(interface):
    return "".join(_definition_line(statistic) for statistic in interface["statistics"])


def _definition_line(statistic):
    words = []
    for key, value in statistic.items():
        if key.endswith("_us"):
            key, value = key.removesuffix("_us"), timestamp(value)
        words.append(f"{key}={value}")
        if key == "units":
            break
    return " ".join(words) + "\n"


def data_of(interface):
    return "".join(f"{statistic['name']}{line}\n" for statistic in interface["statistics"]
                   for line in LINES[statistic["type"]](statistic))


def _extremes(number, low, average, high):
    return f" {number} 0 0.000 0" if low is None else f" {number} {low} {average} {high}"


def _value(statistic):
    yield f" {statistic['values']['total']}"


def _range(statistic):
    values = statistic["values"]
    yield _extremes(values["number"], values["min"], values["avg"], values["max"])


def _list(statistic):
    values = statistic["values"]
    for x, total in zip(values["x"], values["totals"], strict=True):
        yield f" {x if statistic.get('base') == 10 else hex(x % 2**64)} {total}"


def _array(statistic):
    bounds, counts = statistic["values"]["bounds"], statistic["values"]["counts"]
    assert len(counts) == len(bounds) + 1
    for bound, count in zip(bounds, counts):
        yield f" <={bound} {count}"
    yield f" >{bounds[-1]} {counts[-1]}"


def _raw(statistic):
    columns = (statistic["values"][key] for key in ("time_us", "serial", "x", "y"))
    for time, serial, x, y in zip(*columns, strict=True):
        yield f" {timestamp(time)} {serial} {x} {y}"


def _last(statistic):
    values = statistic["values"]
    if values["x"] is not None:
        yield f" {timestamp(values['time_us'])} {values['x']}"


def _quantiles(statistic):
    values = statistic["values"]
    yield f" count {values['count']}"
    if values["count"] == 0:
        return
    yield f" min {values['min']}"
    yield f" avg {values['avg']}"
    for label, each in zip(statistic["quantiles"].split(","), values["quantiles"], strict=True):
        assert Decimal(label) == each["q"]
        yield f" p{label} {each['value']}"
    yield f" max {values['max']}"


def _history(statistic):
    values = statistic["values"]
    for i, end in enumerate(values["end_us"]):
        yield f" {timestamp(end)}" + HISTORY[statistic["mode"]](statistic, values, i)


def _period_total(_, values, i):
    return f" {values['totals'][i]}"


def _period_range(_, values, i):
    return _extremes(values["number"][i], values["min"][i], values["avg"][i], values["max"][i])


def _period_quantiles(statistic, values, i):
    text = _extremes(values["count"][i], values["min"][i], values["avg"][i], values["max"][i])
    if values["count"][i] == 0:
        return text
    for label, each in zip(statistic["quantiles"].split(","), values["quantiles"], strict=True):
        text += f" p{label}={each['values'][i]}"
    return text


LINES = {"value": _value, "range": _range, "list": _list, "array": _array, "raw": _raw,
         "last": _last, "quantiles": _quantiles, "history": _history}
HISTORY = {"increments": _period_total, "products": _period_total, "range": _period_range,
           "quantiles": _period_quantiles}
