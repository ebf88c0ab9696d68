"""Check built pages: nothing is loaded from another host, and every link inside the site leads somewhere.

python tools/check_site.py docs/_build/html
"""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser fetches by itself; a link that a reader may follow can lead anywhere.
LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "video": "src"}
FETCHED_BY_STYLE = re.compile(r"""(?:url\(\s*["']?|@import\s+["'])(https?:)?//""")


class Page(HTMLParser):
    """What one page loads, links to, and can be linked at."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note addresses and anchors."""
        values = {name: value for name, value in attrs if value}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag in LOADED and LOADED[tag] in values and values.get("rel") not in ("next", "prev", "canonical"):
            self.loads.append(values[LOADED[tag]])
        if tag == "a" and "href" in values:
            self.links.append(values["href"])


def is_elsewhere(address: str) -> bool:
    """Whether the address names another host."""
    return bool(urlsplit(address).netloc)


def problems_of(folder: Path) -> list[str]:
    """Return one line per thing that is wrong."""
    pages = {
        path: Page(path.read_text(encoding="utf-8"))
        for path in sorted(folder.rglob("*.html"))
        # a template that the theme leaves beside its scripts
        if path.parent != folder / "_static"
    }
    if not pages:
        return [f"{folder} holds no pages"]
    found = []
    for path, page in pages.items():
        where = path.relative_to(folder)
        found += [f"{where} loads {address}" for address in page.loads if is_elsewhere(address)]
        inside = [link for link in page.links + page.loads if not is_elsewhere(link) and not urlsplit(link).scheme]
        found += [f"{where}: no such place: {link}" for link in inside if not _leads_somewhere(link, path, pages)]
    for style in sorted(folder.rglob("*.css")):
        if FETCHED_BY_STYLE.search(style.read_text(encoding="utf-8")):
            found.append(f"{style.relative_to(folder)} loads from another host")
    return sorted(set(found))


def _leads_somewhere(link: str, path: Path, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(link)
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    page = pages.get(target)
    if page is None or not parts.fragment:
        return target.exists()
    return unquote(parts.fragment) in page.anchors


def main() -> None:
    """Print what is wrong and fail if anything is."""
    found = problems_of(Path(sys.argv[1]).resolve())
    print("\n".join(found[:40]))
    if found:
        raise SystemExit(f"{len(found)} problems.")
    print("Nothing is loaded from elsewhere, and every link inside leads somewhere.")


if __name__ == "__main__":
    main()
