"""Constructors of at most 5 parameters."""
import re

from cpp import heads, parameters

PARAMETERS_MAX = 5


def constructor_faults(files):
    for file in files:
        if file.language != ".cpp":
            continue
        for head in heads(file.text):
            owner = head.scope
            if owner and re.fullmatch(rf"(?:(?:explicit|constexpr) )*{re.escape(owner)}", head.name) \
                    and len(parameters(head.text)) > PARAMETERS_MAX:
                count = len(parameters(head.text))
                yield f"{file.path}:{head.line}: the constructor of {owner} has {count} parameters"
