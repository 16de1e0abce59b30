"""Lowering of PHP string literals: values, or texts with embedded expressions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from ragstone_code.php.context import PhpContext, child_of_type, line_of, opaque
from ragstone_code.php.names import text_of
from ragstone_code.program_tree import Expr, Literal, Subscript, Text, Variable

if TYPE_CHECKING:
    from tree_sitter import Node

_ESCAPE: Final = re.compile(
    r"\\(u\{[0-9A-Fa-f]{1,6}\}|x[0-9A-Fa-f]{1,2}|[0-7]{1,3}|[ntrvef\\$\"])"
)
_ESCAPED_CHARACTERS: Final = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "v": "\v",
    "e": "\x1b",
    "f": "\f",
    "\\": "\\",
    "$": "$",
    '"': '"',
}


def lower_single_quoted(_: PhpContext, node: Node) -> Expr:
    """Return `'…'`, in which only quotes and backslashes are escaped."""
    written = text_of(node).removeprefix("b").removeprefix("B")[1:-1]
    return Literal(re.sub(r"\\([\\'])", r"\1", written), line_of(node))


def lower_double_quoted(context: PhpContext, node: Node) -> Expr:
    """Return `"…"`: a literal if it embeds no expressions, else a text."""
    return _join_pieces(node, list(_pieces(context, node, node.children[1:-1])))


def lower_heredoc(context: PhpContext, node: Node) -> Expr:
    """Return `<<<NAME … NAME` or `<<<'NAME' … NAME` without the indentation of the closing name."""
    body = node.child_by_field_name("value")
    end = node.child_by_field_name("end_tag")
    if body is None:
        return Literal("", line_of(node))
    indentation = 0
    if end is not None:
        indentation = end.start_point[1]
    if node.type == "nowdoc":
        return Literal(
            _dedent(text_of(body), indentation, is_first=True),
            line_of(node),
        )
    pieces = list(_pieces(context, body, body.children))
    for position, piece in enumerate(pieces):
        if isinstance(piece, Literal):
            text = _dedent(str(piece.value), indentation, is_first=position == 0)
            pieces[position] = Literal(text, piece.line)
    return _join_pieces(node, pieces)


def _dedent(text: str, indentation: int, *, is_first: bool) -> str:
    """Return a piece of a heredoc without indentation; the first piece loses its leading line break."""
    if is_first:
        text = text.removeprefix("\r\n").removeprefix("\n")
    if not indentation:
        return text
    dedented = re.sub(rf"\n[ \t]{{1,{indentation}}}", "\n", text)
    if is_first:
        dedented = re.sub(rf"\A[ \t]{{1,{indentation}}}", "", dedented)
    return dedented


def _join_pieces(node: Node, pieces: list[Expr]) -> Expr:
    if not pieces:
        return Literal("", line_of(node))
    if len(pieces) == 1 and isinstance(pieces[0], Literal):
        return pieces[0]
    return Text(tuple(pieces), line_of(node))


def _pieces(context: PhpContext, node: Node, children: list[Node]) -> Iterator[Expr]:
    """Yield texts and expressions in order. Texts are cut from the source because the grammar omits line breaks."""
    source = node.text or b""
    base = node.start_byte
    is_quoted = node.type == "encapsed_string"
    position = 0
    if children and is_quoted:
        position = children[0].start_byte - base
    text = b""
    for child in children:
        start = child.start_byte - base
        end = child.end_byte - base
        text += source[position:start]
        position = end
        if child.type in ("string_content", "escape_sequence"):
            text += source[start:end]
        elif child.type not in ("{", "}"):
            if text:
                yield Literal(_unescape(text), line_of(child))
                text = b""
            yield _lower_embedded(context, child)
    if not is_quoted:
        text += source[position:]
    if text:
        yield Literal(_unescape(text), line_of(node))


def _lower_embedded(context: PhpContext, node: Node) -> Expr:
    """Return an expression inside a string; `"$a[key]"` has a bare key and `"${name}"` is a variable."""
    if node.type == "dynamic_variable_name":
        name = child_of_type(node, "name")
        if name is not None:
            return Variable(text_of(name), line_of(node))
    if node.type == "subscript_expression" and _has_bare_key(node):
        array, key = node.named_children
        return Subscript(
            context.expression(array),
            Literal(text_of(key), line_of(node)),
            line_of(node),
        )
    if not node.is_named:
        return opaque(node)
    return context.expression(node)


def _has_bare_key(node: Node) -> bool:
    parts = node.named_children
    if len(parts) != 2 or parts[1].type != "name":
        return False
    previous = node.prev_sibling
    return previous is None or previous.type != "{"


def _unescape(text: bytes) -> str:
    return _ESCAPE.sub(_unescape_character, text.decode("utf-8", "replace"))


def _unescape_character(match: re.Match[str]) -> str:
    escape = match[1]
    if escape in _ESCAPED_CHARACTERS:
        return _ESCAPED_CHARACTERS[escape]
    if escape[0] == "u":
        code_point = int(escape[2:-1], 16)
    elif escape[0] == "x":
        code_point = int(escape[1:], 16)
    else:
        code_point = int(escape, 8)
    if code_point >= 0x110000:
        return match[0]
    return chr(code_point)
