"""Checks of arguments, and the errors of public calls. For any thread."""
import os
import re

INT32_MAX = (1 << 31) - 1
NAME_BYTES_MAX = 255


def check_number(what, value, least, most):
    """value as an int. ValueError: it is not an int from least to most."""
    if not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{what} must be a number from {least} to {most}, not {value!r}")
    return int(value)


def check_word(what, value, words):
    """value. ValueError: it is not one of words."""
    if value not in words:
        raise ValueError(f"{what} must be one of {', '.join(words)}, not {value!r}")
    return value


def check_name(what, name, forbidden="/="):
    """name. ValueError: it is not 1 to 255 bytes of printable UTF-8 without white space and the
    forbidden characters, or it is . or .. ."""
    if not isinstance(name, str) or not re.fullmatch(rf"[^\s\x00-\x1f\x7f-\x9f{forbidden}]+", name):
        raise ValueError(f"{what} must be printable, without white space and {forbidden}: {name!r}")
    if len(name.encode()) > NAME_BYTES_MAX or name in (".", ".."):
        words = f"{what} must not be longer than {NAME_BYTES_MAX} bytes, . or .."
        raise ValueError(f"{words}: {name!r}")
    return name


def os_error(number, words):
    """An OSError of the class that Python has for this errno."""
    return OSError(number, f"{words} ({os.strerror(number)})")
