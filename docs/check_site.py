"""Check the built pages: nothing is fetched from a network, no link is dead, search finds things.

    python docs/check_site.py docs/_build/html

The search is tried in Chromium, from the disk, where one is installed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote_plus, unquote, urldefrag

#: Tags whose address a browser opens by itself, and the attribute that holds it.
FETCHED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
#: What readers look for, and a page that must be among the first results.
SEARCHES = {
    "where to write what": "architecture.html",
    "outliers": "choose.html",
    "deprecation": "policy.html",
    "vacuous optimum": "mathematics.html",
}
AMONG_FIRST = 3
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


class Page(HTMLParser):
    """The anchors of a page, what it links to and what it fetches."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Write down what one tag holds."""
        given = dict(attrs)
        self.anchors |= {value for name in ("id", "name") if (value := given.get(name))}
        address = given.get(FETCHED.get(tag, ""))
        if address and given.get("rel") not in ("canonical", "next", "prev"):
            self.fetched.append(address)
        if tag == "a" and given.get("href"):
            self.links.append(str(given["href"]))


def findings(root: Path) -> Iterator[str]:
    """Yield what is wrong with the pages below a folder.

    Links on pages of source code are Sphinx's own, and may miss an inherited method.
    """
    pages = {path: Page(path) for path in sorted(root.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(root)
        for address in page.fetched:
            if re.match(r"(https?:)?//", address):
                yield f"{name} fetches {address}"
        for link in page.links:
            if not re.match(r"[a-z]+:|//", link) and name.parts[0] != "_modules":
                yield from dead(name, path, link, pages)
    for path in root.rglob("*.css"):
        style = path.read_text("utf-8")
        for address in re.findall(r"url\(\s*['\"]?((?:https?:)?//[^)'\"]+)", style):
            yield f"{path.relative_to(root)} fetches {address}"


def dead(name: Path, path: Path, link: str, pages: dict[Path, Page]) -> Iterator[str]:
    """Yield a link that leads nowhere."""
    file, anchor = urldefrag(link)
    target = (path.parent / unquote(file)).resolve() if file else path
    known = pages.get(target)
    if not target.exists():
        yield f"{name} links to {link}, which is not there"
    elif anchor and known is not None and unquote(anchor) not in known.anchors:
        yield f"{name} links to {link}, but that page has no such anchor"


def searches(root: Path, browser: str) -> Iterator[str]:
    """Yield searches that do not find their page among the first."""
    for words, wanted in SEARCHES.items():
        with tempfile.TemporaryDirectory() as profile:
            address = f"{(root / 'search.html').as_uri()}?q={quote_plus(words)}"
            command = [browser, "--headless", "--no-sandbox", "--disable-gpu"]
            command += ["--disable-background-networking", f"--user-data-dir={profile}"]
            command += ["--virtual-time-budget=10000", "--dump-dom", address]
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        found = re.findall(r'<li class="kind-[a-z]+"><a href="([^"#?]+)', done.stdout)
        first = list(dict.fromkeys(found))[:AMONG_FIRST]
        if wanted not in first:
            yield f"a search for {words!r} finds {first}, not {wanted}"


def main() -> int:
    """Print all findings; the exit code says whether there were any."""
    root = Path(sys.argv[1]).resolve()
    found = list(findings(root))
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is not None:
        found += searches(root, browser)
    tried = "searched" if browser is not None else "search not tried: no Chromium is installed"
    print("\n".join([*found, f"{len(found)} findings in the built pages ({tried})"]))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
