"""Walking a parsed page: what is written of its elements, and which of them are left out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from selectolax.lexbor import LexborNode

from ragstone.read.outline import Outline, one_line

_SILENT: Final = frozenset(
    "script style noscript template head svg canvas iframe object embed audio video map input select button textarea "
    "datalist progress meter dialog link meta".split()
)
_AROUND: Final = frozenset("nav header footer aside menu".split())
_ROLES: Final = frozenset("navigation banner contentinfo search complementary dialog menu menubar toolbar".split())
_HIDDEN: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)
_NOTE: Final = re.compile(r"note|warning|tip|admonition|callout|info|danger|important|caution|hint|example", re.I)
_PERMALINK: Final = re.compile(
    r"\b(?:headerlink|anchor-?link|heading-anchor|permalink|sr-only|visually-hidden)\b", re.I
)
_BLOCKS: Final = frozenset(
    "address article aside blockquote body center dd details div dl dt fieldset figcaption figure footer form header "
    "hgroup hr html legend main nav ol p section summary ul caption tbody thead tfoot label output search td "
    "th tr".split()
)
_ANCHORS: Final = " \t\n\r\x0c\x1f\xa0¶§🔗"
"""Signs that only lead to where they stand."""
_BREAK: Final = "\x1f"
"""What `br` is until a paragraph is written; to everything else it is white space."""


class Page:
    """Writes what stands in an element, in order, without recursion: pages may be nested deeply."""

    def __init__(self, title: str, *, section: bool, inside: bool, everything: bool = False) -> None:
        """Begin with a title, if there is one; keep whether all of it is main text."""
        self.section, self.inside, self.everything = section, inside, everything
        self.outline = Outline()
        self.outline.heading(1, title, section=section)
        self.inline: list[str] = []
        self.item: str | None = None
        self.lists: list[list[int]] = []
        self.special: dict[str, Callable[[LexborNode], None]] = {
            **{f"h{level}": self._heading for level in range(1, 7)},
            "pre": self._code,
            "tr": self._row,
        }

    def written(self, root: LexborNode) -> Outline:
        """Return all text of an element."""
        stack: list[tuple[LexborNode, bool]] = [(root, False)]
        while stack:
            node, leaving = stack.pop()
            if leaving:
                self._leave(node)
                continue
            if node.is_text_node:
                self.inline.append(node.text_content or "")
                continue
            if not node.is_element_node or (node.mem_id != root.mem_id and self._left_out(node)):
                continue
            special = self.special.get(node.tag or "")
            if special is not None and not (node.tag == "tr" and _is_frame(node)):
                self._flush()
                special(node)
                continue
            self._enter(node)
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(list(_children(node))))
        self._flush()
        return self.outline

    def _enter(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in ("ul", "ol"):
            self._flush()
            self.lists.append([0] if tag == "ol" else [])
        elif tag == "li":
            self._flush()
            self.item = self._sign()
        elif tag == "br":
            self.inline.append(_BREAK)
        elif tag == "img":
            self.inline.append(f" {(node.attributes.get('alt') or '').strip()} ")
        elif tag in _BLOCKS:
            self._flush()

    def _leave(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in ("ul", "ol") and self.lists:
            self._flush()
            self.lists.pop()
            if not self.lists:
                self.outline.part()
        elif tag in _BLOCKS or tag == "li":
            self._flush()
            self.item = None if tag == "li" else self.item

    def _sign(self) -> str:
        if self.lists and self.lists[-1]:
            self.lists[-1][0] += 1
            return f"{self.lists[-1][0]}."
        return "-"

    def _flush(self) -> None:
        """Write the words gathered so far as a paragraph or as an item of a list."""
        if not self.inline:
            return
        text = "".join(self.inline)
        self.inline.clear()
        if not text.strip(_ANCHORS):
            return
        if self.item is not None:
            self.outline.item(text, depth=len(self.lists) - 1, sign=self.item)
            self.item = None
        else:
            lines = map(one_line, text.split(_BREAK))
            self.outline.block("\n".join(line for line in lines if line))

    def _heading(self, node: LexborNode) -> None:
        self.outline.heading(int((node.tag or "h1")[1]), _words(node).strip(_ANCHORS), section=self.section)

    def _code(self, node: LexborNode) -> None:
        self.outline.code(node.text(), _language(node))

    def _row(self, node: LexborNode) -> None:
        cells = [_words(cell) for cell in _children(node) if cell.tag in ("td", "th")]
        self.outline.row(cells)

    def _left_out(self, node: LexborNode) -> bool:
        """Return whether an element is nothing to read here: silent, hidden, or on every page."""
        tag = node.tag or ""
        if tag in _SILENT:
            return True
        given = node.attributes
        if given and _is_hidden(given):
            return True
        if self.everything:
            return False
        role = (given.get("role") or "").lower() if given else ""
        if tag == "form":
            return node.css_first("p, h1, h2, h3, h4, table, li") is None
        if tag not in _AROUND and role not in _ROLES:
            return False
        if tag == "header":
            return not self.inside and node.css_first("h1") is None
        if tag == "aside" or role == "complementary":
            return _NOTE.search(given.get("class") or "") is None
        return not (tag == "footer" and self.inside)


def _is_hidden(given: dict[str, str | None]) -> bool:
    if "hidden" in given or given.get("aria-hidden") == "true":
        return True
    style, names = given.get("style"), given.get("class")
    return bool((style and _HIDDEN.search(style)) or (names and _PERMALINK.search(names)))


def _children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.first_child
    while child is not None:
        yield child
        child = child.next


def _words(node: LexborNode) -> str:
    """Return all words of an element in one line."""
    parts: list[str] = []
    stack = [node]
    while stack:
        one = stack.pop()
        if one.is_text_node:
            parts.append(one.text_content or "")
        elif one.is_element_node and one.tag not in _SILENT and not _is_hidden(one.attributes):
            if one.tag in _BLOCKS or one.tag in ("br", "li", "pre"):
                parts.append(" ")
            stack.extend(reversed(list(_children(one))))
    return one_line("".join(parts))


def _is_frame(row: LexborNode) -> bool:
    """Return whether a row of a table only arranges what stands in it: more than words."""
    return row.css_first("table, h1, h2, h3, h4, pre, ul, ol") is not None


def _language(node: LexborNode) -> str:
    """Return the language that a piece of code is marked with."""
    code = node.css_first("code")
    for one in (node, code):
        names = (one.attributes.get("class") or "") if one is not None else ""
        found = re.search(r"(?:language-|lang-|highlight-source-|brush:\s*)([\w+#-]+)", names)
        if found:
            return found[1]
    return ""
