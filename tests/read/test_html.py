"""HTML pages give their main text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.errors import ReadError
from ragstone.read.html import read
from ragstone.types import Mark

PAGE = """<!doctype html><html><head><meta charset="utf-8"><title>Guide &mdash; Site</title><style>p{}</style></head>
<body><header><a href="/">Logo</a></header><nav><a>Menu</a></nav>
<main><h1>Install<a class="headerlink" href="#i">¶</a></h1>
<p>First
   line<br>second &amp; <a href="x">a link</a>.</p>
<ul><li>one<li>two<ul><li>deep</li></ul></li></ul><ol><li>first<li><p>second</p></ol>
<table><tr><th>key<th>value<tr><td>a<td>1 <b>x</b></table>
<pre><code class="language-python">def f():
    return 1
</code></pre>
<h2>Next</h2><div>loose<p>inner</p>tail</div><p hidden>never</p><span style="display: none">never</span>
<aside>side</aside><aside class="note">Mind this.</aside>
<form>find <input value="x"></form><script>var a</script></main>
<footer>(c)</footer></body></html>"""

TEXT = """# Install

First line
second & a link.

- one
- two
  - deep

1. first
2. second

| key | value |
| a | 1 x |

```python
def f():
    return 1
```

## Next

loose

inner

tail

Mind this.
"""


def text(source: str) -> str:
    return read(source.encode(), "a.html").text


def test_a_page_is_its_main_text_with_headings_lists_tables_and_code() -> None:
    document = read(PAGE.encode(), "docs/a.html")
    assert document.text == TEXT
    assert (document.title, document.kind, document.language) == ("Guide — Site", "doc", "html")
    assert document.metadata == {"extracted": True}


def test_every_heading_is_a_section_to_be_cited() -> None:
    document = read(PAGE.encode(), "a.html")
    assert [(mark.number, mark.label, mark.unit) for mark in document.marks] == [
        (1, "Install", "section"),
        (2, "Next", "section"),
    ]
    assert all(document.text[mark.start] == "#" for mark in document.marks)


def test_a_page_without_headings_begins_with_its_title() -> None:
    document = read(b"<title>Notes</title><p>Some words.</p>", "a.html")
    assert document.text == "# Notes\n\nSome words.\n"
    assert document.marks == (Mark(0, 1, "Notes", "section"),)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "<article><header><h1>T</h1></header><p>a</p><footer>by me</footer></article>",
            "# T\n\na\n\nby me\n",
        ),
        ("<header><h1>T</h1></header><p>a</p>", "# T\n\na\n"),
        ("<header><p>Logo</p></header><p>a</p>", "a\n"),
        (
            "<main>x</main>" + "<p>more text outside of it</p>" * 2,
            "x\n\nmore text outside of it\n\nmore text outside of it\n",
        ),
        ("<div role=navigation>menu</div><p aria-hidden=true>no</p>a", "a\n"),
        ("<form><h2>Sign in</h2><label>Name <input></label></form>", "## Sign in\n\nName\n"),
        ("<p>a<!-- comment --> b<template>no</template></p>", "a b\n"),
        ("<td>lone cell</td>", "lone cell\n"),
        ("plain text, no tags", "plain text, no tags\n"),
        ("<img alt='A chart'> below", "A chart below\n"),
        (
            "<table><tr><td><table><tr><td>in</td><td>ner</td></tr></table></td><td>b</td></tr></table>",
            "| in | ner |\n\nb\n",
        ),
        ("<pre>a\n```\nb</pre>", "````\na\n```\nb\n````\n"),
        ("<p>a&nbsp;b&#x41;&lt;</p>", "a bA<\n"),
        ("", ""),
    ],
)
def test_text_is_kept_and_navigation_is_left_out(source: str, expected: str) -> None:
    assert text(source) == expected


def test_a_page_with_only_a_menu_gives_the_menu() -> None:
    assert "Only menu" in text(
        "{% extends 'base' %}{% block a %}<nav><a>Only menu</a></nav>{% endblock %}"
    )


def test_templates_give_their_text() -> None:
    found = text(
        "@extends('app')\n@section('body')\n<h1>{{ $title }}</h1>\n<p>Dear {{ name }}, welcome.</p>\n@endsection"
    )
    assert "# {{ $title }}" in found and "Dear {{ name }}, welcome." in found


def test_a_page_without_text_says_so() -> None:
    assert read(b"<body><script>app()</script></body>", "a.html").remarks == (
        "no text found in the page",
    )


@pytest.mark.parametrize(
    ("data", "expected", "encoding"),
    [
        ('<meta charset="windows-1251"><p>Привет</p>'.encode("cp1251"), "Привет", "cp1251"),
        (
            '<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS"><p>日本語</p>'.encode(
                "shift_jis"
            ),
            "日本語",
            "shift_jis",
        ),
        ('<meta charset="iso-8859-1"><p>“quoted”</p>'.encode("cp1252"), "“quoted”", "cp1252"),
        ('<meta charset="no-such"><p>é</p>'.encode(), "é", "utf-8"),
        ('<meta charset="ascii"><p>é</p>'.encode(), "é", "utf-8"),
        (
            '<meta charset="gb2312"><p>é — naïve, said in UTF-8</p>'.encode(),
            "é — naïve, said in UTF-8",
            "utf-8",
        ),
        ("<p>wide</p>".encode("utf-16"), "wide", "utf-16-le"),
    ],
)
def test_the_declared_encoding_is_used_unless_it_is_wrong(
    data: bytes, expected: str, encoding: str
) -> None:
    document = read(data, "a.html")
    assert expected in document.text
    assert document.metadata.get("encoding", "utf-8") == encoding


def test_elements_nested_beyond_reason_are_refused() -> None:
    with pytest.raises(ReadError):
        text("<div>" * 2_000)
    assert text("<p>a<li>b" * 3_000).count("b") == 3_000
    assert text("<div>" * 500 + "x" + "</div>" * 500) == "x\n"


FRAGMENTS = st.sampled_from(
    [
        "<p>",
        "</p>",
        "<b>",
        "</b>",
        "word ",
        "<ul>",
        "<li>",
        "</ul>",
        "<table>",
        "<tr>",
        "<td>",
        "</table>",
        "<h2>",
        "</h2>",
        "<pre>",
        "</pre>",
        "\n",
        "&amp;",
        "&#0;",
        "&#xd800;",
        "<br>",
        "<!--",
        "-->",
        "<script>",
        "</script>",
        "字",
        "<svg>",
        "<main>",
        "</main>",
        "<title>",
        "</title>",
        "\x00",
        "\ud800",
        "<a href='",
        "<![CDATA[",
        "</html>",
        "<frameset>",
    ]
)


@given(st.lists(FRAGMENTS, max_size=30).map("".join))
def test_any_mixture_of_tags_gives_a_text_with_marks_inside_it(source: str) -> None:
    try:
        document = read(source.encode("utf-8", "surrogatepass"), "a.html")
    except ReadError:
        return
    document.text.encode("utf-8")
    assert all(document.text[mark.start] == "#" for mark in document.marks)
