"""For mkdocs: a link to a file outside docs/ becomes the file's path, for the site holds the pages alone."""

import re


def on_page_markdown(markdown, **_):
    return re.sub(r"\[[^\]]*\]\((?:\.\./)+(?!tutorial/|[a-z-]+\.md)([^)]+)\)", r"`\1`", markdown)
