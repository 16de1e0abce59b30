"""PHP's ways to write a string, as values and as texts with expressions in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from ragstone.code.tree import Expr, Literal, Subscript, Text, Variable
from ragstone_code.php.context import Context, line_of, named, opaque
from ragstone_code.php.names import text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_ESCAPE: Final = re.compile(r"\\(u\{[0-9A-Fa-f]{1,6}\}|x[0-9A-Fa-f]{1,2}|[0-7]{1,3}|[ntrvef\\$\"])")
_PLAIN: Final = {"n": "\n", "t": "\t", "r": "\r", "v": "\v", "e": "\x1b", "f": "\f", "\\": "\\", "$": "$", '"': '"'}


def single_quoted(_: Context, node: Node) -> Expr:
    """Return `'…'`, in which only the quote and the backslash are escaped."""
    written = text_of(node).removeprefix("b").removeprefix("B")[1:-1]
    return Literal(re.sub(r"\\([\\'])", r"\1", written), line_of(node))


def double_quoted(context: Context, node: Node) -> Expr:
    """Return `"…"`: a value where nothing is in it, else a text."""
    return _text(context, node, tuple(_pieces(context, node, node.children[1:-1])))


def heredoc(context: Context, node: Node) -> Expr:
    """Return `<<<NAME … NAME` and `<<<'NAME' … NAME`, without the indentation of the closing name."""
    body, end = node.child_by_field_name("value"), node.child_by_field_name("end_tag")
    if body is None:
        return Literal("", line_of(node))
    margin = end.start_point[1] if end is not None else 0
    if node.type == "nowdoc":
        return Literal(_dedented(text_of(body), margin, first=True), line_of(node))
    pieces = tuple(_pieces(context, body, body.children))
    even = tuple(
        Literal(_dedented(str(one.value), margin, first=position == 0), one.line) if isinstance(one, Literal) else one
        for position, one in enumerate(pieces)
    )
    return _text(context, node, even)


def _dedented(text: str, margin: int, *, first: bool) -> str:
    """Return a piece of a heredoc without its margin; the line break that opens the body is none of it."""
    if first:
        text = text.removeprefix("\r\n").removeprefix("\n")
    if not margin:
        return text
    even = re.sub(rf"\n[ \t]{{1,{margin}}}", "\n", text)
    return re.sub(rf"\A[ \t]{{1,{margin}}}", "", even) if first else even


def _text(context: Context, node: Node, pieces: tuple[Expr, ...]) -> Expr:
    """Return pieces as one expression."""
    if not pieces:
        return Literal("", line_of(node))
    if len(pieces) == 1 and isinstance(pieces[0], Literal):
        return pieces[0]
    return Text(pieces, line_of(node))


def _pieces(context: Context, node: Node, children: list[Node]) -> Iterator[Expr]:
    """Yield texts and expressions in order; the grammar leaves line breaks out, so texts are cut from the source."""
    source, base = node.text or b"", node.start_byte
    quoted = node.type == "encapsed_string"
    at, text = (children[0].start_byte - base if children and quoted else 0), b""
    for child in children:
        start, end = child.start_byte - base, child.end_byte - base
        text += source[at:start]
        at = end
        if child.type in ("string_content", "escape_sequence"):
            text += source[start:end]
            continue
        if child.type in ("{", "}"):
            continue
        if text:
            yield Literal(_unescaped(text), line_of(child))
            text = b""
        yield _inner(context, child)
    text += b"" if quoted else source[at:]
    if text:
        yield Literal(_unescaped(text), line_of(node))


def _inner(context: Context, node: Node) -> Expr:
    """Return an expression in a string; `$a[key]` has a bare key there, `${name}` is a variable."""
    if node.type == "dynamic_variable_name" and (name := named(node, "name")) is not None:
        return Variable(text_of(name), line_of(node))
    if node.type == "subscript_expression":
        inner = node.named_children
        before = node.prev_sibling
        if len(inner) == 2 and inner[1].type == "name" and (before is None or before.type != "{"):
            return Subscript(context.expression(inner[0]), Literal(text_of(inner[1]), line_of(node)), line_of(node))
    if not node.is_named:
        return opaque(node)
    return context.expression(node)


def _unescaped(text: bytes) -> str:
    """Return what a double-quoted text stands for."""
    return _ESCAPE.sub(_escaped, text.decode("utf-8", "replace"))


def _escaped(found: re.Match[str]) -> str:
    """Return the character of an escape."""
    what = found[1]
    if what in _PLAIN:
        return _PLAIN[what]
    number = int(what[2:-1], 16) if what[0] == "u" else int(what[1:], 16) if what[0] == "x" else int(what, 8)
    return chr(number) if number < 0x110000 else found[0]
