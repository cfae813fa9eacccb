"""README of at most 150 lines, and pages of docs/ of at most 200 (style.md, DOCUMENTS)."""
README_MAX = 150
PAGE_MAX = 200


def page_length_faults(files):
    for file in files:
        lines = len(file.lines)
        if file.path == "README.md" and lines > README_MAX:
            yield f"README.md: {lines} lines; at most {README_MAX}"
        elif file.path.startswith("docs/") and file.language == ".md" and lines > PAGE_MAX:
            yield f"{file.path}: {lines} lines; a page has at most {PAGE_MAX}"
