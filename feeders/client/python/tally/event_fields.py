"""Fields of a program's events: their declaration, and their bytes (core/wire/FORMAT.md).

Pure functions, for any thread."""
import re
import struct

_TYPES = {
    "s64": "q", "u64": "Q", "s32": "i", "u32": "I", "s16": "h", "u16": "H", "s8": "b", "u8": "B",
    "char": "b", "int": "i", "long": "q", "bool": "?", "pid_t": "i", "gfp_t": "I",
    "unsigned char": "B", "unsigned int": "I", "unsigned long": "Q",
}  # fmt: skip
_FIELD = re.compile(r"\s*((?:unsigned\s+)?\w+)\s*(\[\d*\])?\s+([A-Za-z_]\w*)\s*(\[\d*\])?\s*")
_FIELDS_MAX = 64
_ARRAY_MAX = 256
_TEXT_MAX = 1024


def parse_fields(fields):
    """[(name, kind)] of `TYPE NAME; ...`. kind: the struct code of a number, the length of a
    char[N], or 0 for a char[]. ValueError: a field, or more than 64."""
    parsed = [_parse_field(text) for text in fields.strip().rstrip(";").split(";")]
    if len(parsed) > _FIELDS_MAX:
        raise ValueError(f"more than {_FIELDS_MAX} fields")
    return parsed


def _parse_field(text):
    field = _FIELD.fullmatch(text)
    type_name = field and " ".join(field[1].split())
    brackets = field and (field[2] or field[4])
    if type_name not in _TYPES or (field[2] and field[4]) or (brackets and type_name != "char"):
        raise ValueError(f"not a field of an event: {text!r}")
    if not brackets:
        return field[3], _TYPES[type_name]
    length = int(brackets[1:-1] or 0)
    if brackets != "[]" and not 1 <= length <= _ARRAY_MAX:
        raise ValueError(f"not a field of an event: {text!r}")
    return field[3], length


def fixed_bytes(parsed):
    """The bytes of a record from byte 8 to its texts."""
    return sum(8 if not kind or isinstance(kind, str) else -(-kind // 8) * 8 for _, kind in parsed)


def pack_fields(parsed, texts_at, values):
    """The record's bytes from byte 8 on; texts are cut to their room, a char[] to 1,024 bytes.
    texts_at: fixed_bytes(). None: a value or their number is wrong."""
    if len(values) != len(parsed):
        return None
    fixed, texts = bytearray(), bytearray()
    try:
        for (_, kind), value in zip(parsed, values):
            if isinstance(kind, str):
                fixed += struct.pack("<" + kind, value)
            elif kind:
                fixed += _bytes_of(value)[:kind].ljust(kind, b"\0")
            else:
                text = _bytes_of(value)[:_TEXT_MAX] + b"\0"
                fixed += struct.pack("<HH", 8 + texts_at + len(texts), len(text))
                texts += text + bytes(-len(text) % 8)
            fixed += bytes(-len(fixed) % 8)
    except (struct.error, TypeError, UnicodeEncodeError):
        return None
    return bytes(fixed + texts)


# TypeError: no text. bytes() itself would take a number for a length.
def _bytes_of(value):
    return value.encode() if isinstance(value, str) else bytes(memoryview(value))
