#!/usr/bin/env python3
"""Makes the site of README.md, README.zh.md, docs/ and the headers' comments, with warnings as errors.

build.py WORK: the pages come to WORK/html. Every link to another page, to an anchor and to a file has to lead somewhere, and nothing
may be loaded from elsewhere when a page is shown. Links to other sites are counted and not followed; --external lists them.
"""

import argparse
import html.parser
import pathlib
import re
import shutil
import sys
import urllib.parse

import reference
from sphinx.cmd.build import main as sphinx

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
LINK = re.compile(r"\]\(([^)#\s]+)")


def pages():
    """The pages' paths in the repository."""
    others = ["README.zh.md", "CHANGELOG.md", "tests/README.md", "bench/README.md"]
    return [*sorted((ROOT / "docs").glob("*.md")), *(ROOT / page for page in others if (ROOT / page).exists())]


def without_code(text):
    return re.sub(r"^```.*?^```|`[^`\n]*`", "", text, flags=re.M | re.S)


def stage(work):
    """Copies the pages, and the files that they link to, to where they stand in the repository; README.md is the first page."""
    source = work / "source"
    shutil.rmtree(source, ignore_errors=True)
    for page in [ROOT / "README.md", *pages()]:
        text = page.read_text()
        for link in LINK.findall(without_code(text)):
            target = (page.parent / urllib.parse.unquote(link)).resolve()
            if "://" not in link and target.suffix != ".md" and target.is_file() and target.is_relative_to(ROOT):
                copy = source / target.relative_to(ROOT)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(target, copy)
        to = source / page.relative_to(ROOT)
        to.parent.mkdir(parents=True, exist_ok=True)
        if page == ROOT / "README.md":
            to = source / "index.md"
            text += (HERE / "navigation.md").read_text()
        # README.md is called index here.
        to.write_text(re.sub(r"\]\(((?:\.\./)*)README\.md", r"](\1index.md", text) if to.parent.name != "tests" else text)
    reference.write(ROOT / "include", source / "docs" / "reference")
    return source


def copy_pictures(site):
    """Copies the pictures that pages show by HTML, which Sphinx leaves alone."""
    for page in [ROOT / "README.md", *pages()]:
        for picture in re.findall(r'<img[^>]* src="([^":]+)"', page.read_text()):
            copy = site / page.parent.relative_to(ROOT) / picture
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(page.parent / picture, copy)


class links(html.parser.HTMLParser):
    """The anchors of a page, what it links to, and what it loads."""

    def __init__(self, file):
        super().__init__()
        self.anchors, self.targets, self.loaded = set(), [], []
        self.feed(file.read_text())

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if "id" in attributes:
            self.anchors.add(attributes["id"])
        if tag == "a" and attributes.get("href"):
            self.targets.append(attributes["href"])
        elif tag in ("img", "script", "iframe", "source") and attributes.get("src"):
            self.loaded.append(attributes["src"])
        elif tag == "link" and attributes.get("rel") not in ("next", "prev", "canonical"):
            self.loaded.append(attributes["href"])


def check(site):
    """What is wrong with the links of the site, and the links that leave it."""
    read = {file: links(file) for file in sorted(site.rglob("*.html"))}
    wrong, external = [], set()
    for file, page in read.items():
        name = file.relative_to(site)
        for target in page.targets + page.loaded:
            parts = urllib.parse.urlsplit(target)
            if parts.scheme or parts.netloc:
                if target in page.loaded and parts.scheme != "data":
                    wrong.append(f"{name} loads {target}")
                external.add(target)
                continue
            to = (file.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else file
            if not to.is_file():
                wrong.append(f"{name} links to {target}, which is not there")
            elif parts.fragment and to in read and urllib.parse.unquote(parts.fragment) not in read[to].anchors:
                wrong.append(f"{name} links to {target}: no such heading")
    for sheet in site.rglob("*.css"):
        for target in re.findall(r"url\(['\"]?((?:https?:)?//[^)'\"]*)|@import\s+['\"]((?:https?:)?//[^'\"]*)", sheet.read_text()):
            wrong.append(f"{sheet.relative_to(site)} loads {''.join(target)}")
    return wrong, sorted(external)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("work", type=pathlib.Path)
    options.add_argument("--external", action="store_true", help="list the links to other sites")
    options = options.parse_args()
    source = stage(options.work)
    site = options.work / "html"
    shutil.rmtree(site, ignore_errors=True)
    status = sphinx(["-q", "-E", "-n", "-W", "--keep-going", "-b", "html", "-c", str(HERE), "-d", str(options.work / "doctrees"),
                     str(source), str(site)])
    if status:
        return status
    copy_pictures(site)
    wrong, external = check(site)
    print(*wrong, sep="\n", end="\n" if wrong else "", file=sys.stderr)
    if options.external:
        print(*external, sep="\n")
    print(f"{sum(1 for _ in site.rglob('*.html'))} pages in {site}; {len(external)} links to other sites")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
