"""Writing the elements of a parsed page as Markdown, without those that are not its text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from selectolax.lexbor import LexborNode

from ragstone.read.markdown_writer import MarkdownWriter, one_line

_SILENT: Final = frozenset(
    "script style noscript template head svg canvas iframe object embed audio video map input select button textarea "
    "datalist progress meter dialog link meta".split()
)
_SURROUNDING: Final = frozenset("nav header footer aside menu".split())
_SURROUNDING_ROLES: Final = frozenset(
    "navigation banner contentinfo search complementary dialog menu menubar toolbar".split()
)
_BLOCKS: Final = frozenset(
    "address article aside blockquote body center dd details div dl dt fieldset figcaption figure footer form header "
    "hgroup hr html legend main nav ol p section summary ul caption tbody thead tfoot label output search td "
    "th tr".split()
)
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_HIDDEN_STYLE: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)
_HIDDEN_CLASS: Final = re.compile(
    r"\b(?:headerlink|anchor-?link|heading-anchor|permalink|sr-only|visually-hidden)\b",
    re.I,
)
_NOTE_CLASS: Final = re.compile(
    r"note|warning|tip|admonition|callout|info|danger|important|caution|hint|example",
    re.I,
)
_LANGUAGE_CLASS: Final = re.compile(
    r"(?:language-|lang-|highlight-source-|brush:\s*)([\w+#-]+)"
)
_ANCHOR_SIGNS: Final = " \t\n\r\x0c\x1f\xa0¶§🔗"
_LINE_BREAK: Final = "\x1f"
"""Stands for `br` until a paragraph is written; everywhere else it is white space."""

Attributes = Mapping[str, str | None]


class PageReader:
    """Writes the text of an element in order, without recursion: pages may be nested deeply."""

    def __init__(
        self,
        title: str,
        *,
        has_sections: bool,
        is_main: bool,
        keeps_all: bool = False,
    ) -> None:
        """Write the title, and keep whether all elements are inside the main text."""
        self._has_sections = has_sections
        self._is_main = is_main
        self._keeps_all = keeps_all
        self._writer = MarkdownWriter()
        self._writer.write_heading(1, title, is_section=has_sections)
        self._inline: list[str] = []
        self._item_sign: str | None = None
        self._list_counts: list[int | None] = []
        """For each open list the number of its last item; None for a list without numbers."""

    def read(self, root: LexborNode) -> MarkdownWriter:
        """Write the text of an element and return the writer."""
        stack: list[LexborNode | str] = [root]
        while stack:
            node = stack.pop()
            if isinstance(node, str):  # the tag of an element that ends here
                self._leave(node)
            elif node.is_text_node:
                self._inline.append(node.text_content or "")
            elif node.is_element_node and not self._is_done(node, root):
                self._enter(node)
                stack.append(node.tag or "")
                stack += _reversed_children(node)
        self._flush()
        return self._writer

    def _is_done(self, node: LexborNode, root: LexborNode) -> bool:
        """Skip an element or write it with its children, if possible, and return whether that was done."""
        is_skipped = node is not root and self._is_skipped(node)
        return is_skipped or self._write_whole(node)

    def _write_whole(self, node: LexborNode) -> bool:
        """Write a heading, code or a table row; return False for other elements."""
        tag = node.tag or ""
        if tag in _HEADINGS:
            self._flush()
            level = int(tag[1])
            title = _all_text(node).strip(_ANCHOR_SIGNS)
            self._writer.write_heading(level, title, is_section=self._has_sections)
        elif tag == "pre":
            self._flush()
            self._writer.write_code(node.text(), _code_language(node))
        elif tag == "tr" and not _is_layout_row(node):
            self._flush()
            cells = [cell for cell in _children(node) if cell.tag in ("td", "th")]
            self._writer.write_row([_all_text(cell) for cell in cells])
        else:
            return False
        return True

    def _enter(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag == "br":
            self._inline.append(_LINE_BREAK)
        elif tag == "img":
            description = (node.attributes.get("alt") or "").strip()
            self._inline.append(f" {description} ")
        elif tag in _BLOCKS or tag == "li":
            self._flush()
        if tag == "ol":
            self._list_counts.append(0)
        elif tag == "ul":
            self._list_counts.append(None)
        elif tag == "li":
            self._item_sign = self._next_sign()

    def _leave(self, tag: str) -> None:
        if tag in _BLOCKS or tag == "li":
            self._flush()
        if tag == "li":
            self._item_sign = None
        elif tag in ("ul", "ol") and self._list_counts:
            self._list_counts.pop()
            if not self._list_counts:
                self._writer.end_group()

    def _next_sign(self) -> str:
        count = self._list_counts[-1] if self._list_counts else None
        if count is None:
            return "-"
        self._list_counts[-1] = count + 1
        return f"{count + 1}."

    def _flush(self) -> None:
        """Write the collected words as a paragraph or as a list item."""
        text = "".join(self._inline)
        self._inline.clear()
        if not text.strip(_ANCHOR_SIGNS):
            return
        if self._item_sign is not None:
            depth = len(self._list_counts) - 1
            self._writer.write_item(text, depth=depth, sign=self._item_sign)
            self._item_sign = None
        else:
            lines = map(one_line, text.split(_LINE_BREAK))
            self._writer.write_block("\n".join(filter(None, lines)))

    def _is_skipped(self, node: LexborNode) -> bool:
        """Return whether an element is no text of this page: silent, hidden, or navigation."""
        if _is_silent(node):
            return True
        if self._keeps_all:
            return False
        if node.tag == "form":
            return node.css_first("p, h1, h2, h3, h4, table, li") is None
        return self._is_surrounding(node)

    def _is_surrounding(self, node: LexborNode) -> bool:
        """Return whether an element is around the main text, such as a menu or a footer."""
        attributes = node.attributes
        role = (attributes.get("role") or "").lower()
        if node.tag not in _SURROUNDING and role not in _SURROUNDING_ROLES:
            return False
        if node.tag == "header":
            return not self._is_main and node.css_first("h1") is None
        if node.tag == "aside" or role == "complementary":
            return _NOTE_CLASS.search(attributes.get("class") or "") is None
        return node.tag != "footer" or not self._is_main


def _is_silent(node: LexborNode) -> bool:
    return node.tag in _SILENT or _is_hidden(node.attributes)


def _is_hidden(attributes: Attributes) -> bool:
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    has_hidden_style = _HIDDEN_STYLE.search(attributes.get("style") or "")
    has_hidden_class = _HIDDEN_CLASS.search(attributes.get("class") or "")
    return bool(has_hidden_style or has_hidden_class)


def _children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.first_child
    while child is not None:
        yield child
        child = child.next


def _reversed_children(node: LexborNode) -> list[LexborNode]:
    return list(_children(node))[::-1]


def _all_text(node: LexborNode) -> str:
    """Return all text of an element in one line."""
    parts: list[str] = []
    stack = [node]
    while stack:
        each = stack.pop()
        if each.is_text_node:
            parts.append(each.text_content or "")
        elif each.is_element_node and not _is_silent(each):
            if each.tag in _BLOCKS or each.tag in ("br", "li", "pre"):
                parts.append(" ")
            stack += _reversed_children(each)
    return one_line("".join(parts))


def _is_layout_row(row: LexborNode) -> bool:
    """Return whether a table row only arranges blocks."""
    return row.css_first("table, h1, h2, h3, h4, pre, ul, ol") is not None


def _code_language(node: LexborNode) -> str:
    """Return the language that a class of `pre` or `code` names; empty if there is none."""
    for each in (node, node.css_first("code")):
        if each is not None:
            match = _LANGUAGE_CLASS.search(each.attributes.get("class") or "")
            if match:
                return match[1]
    return ""
