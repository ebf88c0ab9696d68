"""A page as tests ask about it."""

import re
from html.parser import HTMLParser
from itertools import pairwise

VOID = {"meta", "link", "br", "img", "input", "hr", "path", "use", "rect", "circle", "polygon"}


class Page(HTMLParser):
    """Nesting, ids, references, headings, and the text of every element."""

    def __init__(self, html):
        super().__init__()
        self.html = html
        self.open, self.elements, self.headings, self.text = [], [], [], {}
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), tuple(self.open)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs), tuple(self.open)))

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag, f"</{tag}> closes another element"

    def handle_data(self, data):
        if self.open:
            self.text.setdefault(self.open[-1], []).append(data)
            if re.fullmatch("h[1-6]", self.open[-1]):
                self.headings.append((int(self.open[-1][1]), data.strip()))

    @property
    def figures(self):
        return re.findall(r"<figure.*?</figure>", self.html, flags=re.DOTALL)


def check_page(page):
    """What every page must be: closed, offline, without script, in order, with names and tables for its pictures."""
    html = page.html
    assert not page.open
    assert not re.search(r"https?:|//[a-z]|@import|url\((?!#)", html)
    assert not [tag for tag, _, _ in page.elements if tag in {"script", "link", "img", "iframe", "object"}]
    assert not [attrs for _, attrs, _ in page.elements if any(name.startswith("on") for name in attrs)]
    levels = [level for level, _ in page.headings]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    ids = [attrs["id"] for _, attrs, _ in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert {a or b for a, b in re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', html)} <= set(ids)
    named = [attrs["aria-labelledby"].split() for _, attrs, _ in page.elements if "aria-labelledby" in attrs]
    assert {name for pair in named for name in pair} <= set(ids)
    assert {tag for tag, _, _ in page.elements} >= {"header", "main", "footer", "title"}
    for figure in page.figures:
        assert (
            figure.count("<svg ") == figure.count('role="img"') == figure.count("<title ") == figure.count("<desc ") > 0
        )
        assert re.search(r"<figcaption><b>.+?[.?]</b> .{20,}?</figcaption>", figure, flags=re.DOTALL)
        assert re.search(
            r"<details><summary>.*<table>.*<th scope=\"col\".*</table>.*</details>", figure, flags=re.DOTALL
        )
        assert "<td" in figure
        assert not re.search(r"\bnan\b|<title[^>]*></title>|<desc[^>]*></desc>", figure)
