"""Files of at most 600 lines; one of more than 400 says in its opening comment why.

The reason is a sentence that begins with "Longer than most:". Pages have their own bounds.
"""
SPLIT_AT = 600
REASON_AT = 400
REASON = "Longer than most:"
OPENING = 40  # lines in which the reason stands
README_MAX = 150
PAGE_MAX = 200


def file_length_faults(files):
    for file in files:
        lines = len(file.lines)
        if file.path == "README.md" and lines > README_MAX:
            yield f"README.md: {lines} lines; at most {README_MAX}"
        elif file.path.startswith("docs/") and file.language == ".md" and lines > PAGE_MAX:
            yield f"{file.path}: {lines} lines; a page has at most {PAGE_MAX}"
        elif file.language in (".cpp", ".py", ".sh") and lines > SPLIT_AT:
            yield f"{file.path}: {lines} lines; past {SPLIT_AT} a file is split"
        elif file.language in (".cpp", ".py", ".sh") and lines > REASON_AT \
                and not any(REASON in line for line in file.lines[:OPENING]):
            yield f'{file.path}: {lines} lines, and its header has no sentence "{REASON} ..."'
