"""PDFs made to hurt whoever reads them: bombs, circles, lies about sizes, and damage at random."""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator

from tests.read.pdf_files import FONT, Pdf, content, lines, pdf

Hostile = Iterator[tuple[str, bytes]]


def hostile(rng: random.Random) -> Hostile:
    """Yield names and bytes of hostile PDFs that cost whoever reads them little."""
    yield from circles()
    yield from lies(rng)
    yield from damaged(rng)


def packed(size: int, unit: bytes) -> bytes:
    """Return a compressed stream of a unit repeated up to a size; its blocks are made once and stand alone."""
    press = zlib.compressobj(9)
    block = unit * (1 + (1 << 20) // len(unit))
    head = press.compress(b"") + press.flush(zlib.Z_FULL_FLUSH)
    body = press.compress(block) + press.flush(zlib.Z_FULL_FLUSH)
    return (
        head + body * (size // len(block)) + b"\x03\x00" + bytes(4)
    )  # no reader of PDFs minds a wrong checksum


def one_page(
    drawing: bytes,
    about: str,
    *,
    resources: str = "",
    more: list[tuple[str, bytes]] | None = None,
) -> bytes:
    """Return a PDF whose one page draws a stream as it is; further objects are numbered from 6 on."""
    made = Pdf()
    made.add("<</Type/Catalog/Pages 2 0 R>>")
    made.add("<</Type/Pages/Count 1/Kids[3 0 R]>>")
    made.add(
        f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>{resources}>>>>"
    )
    made.add(f"<<{about}/Length {len(drawing)}>>stream\n".encode() + drawing + b"\nendstream")
    made.add(FONT)
    for words, body in more or []:
        made.add(
            f"<<{words}/Length {len(body)}>>stream\n".encode() + body + b"\nendstream"
            if body
            else words
        )
    return made.bytes(1)


def bombs() -> Hostile:
    """Yield small files that want to be enormous."""
    text = packed(400 << 20, b"BT /F1 9 Tf 1 0 0 1 9 9 Tm (word) Tj ET\n")
    yield "text.pdf", one_page(text, "/Filter/FlateDecode")
    zeros = packed(1 << 30, b"\0")
    yield "zeros.pdf", one_page(zeros, "/Filter/FlateDecode")
    nested = zlib.compress(packed(1 << 30, b"\0"), 9)
    yield (
        "nested.pdf",
        one_page(zlib.compress(nested, 9), "/Filter[/FlateDecode/FlateDecode/FlateDecode]"),
    )
    hexed = packed(200 << 20, b"4")
    yield "hexed.pdf", one_page(hexed, "/Filter[/FlateDecode/ASCIIHexDecode/FlateDecode]")
    yield (
        "runs.pdf",
        one_page(packed(100 << 20, b"\x81("), "/Filter[/FlateDecode/RunLengthDecode]"),
    )
    yield "laughs.pdf", laughs(levels=12, times=10)
    picture = "/Type/XObject/Subtype/Image/Width 60000/Height 60000/BitsPerComponent 8/ColorSpace/DeviceRGB"
    image = packed(1 << 30, b"\xff")
    shown = b"q 612 0 0 792 0 0 cm /I Do Q BT /F1 9 Tf 9 9 Td (caption) Tj ET"
    yield (
        "image.pdf",
        one_page(
            shown,
            "",
            resources="/XObject<</I 6 0 R>>",
            more=[(f"{picture}/Filter/FlateDecode", image)],
        ),
    )
    yield "string.pdf", one_page(b"BT /F1 9 Tf 9 9 Td (" + b"x" * 3_000_000 + b") Tj ET", "")
    yield "kids.pdf", many_kids(200_000)
    yield "saves.pdf", one_page(packed(50 << 20, b"q "), "/Filter/FlateDecode")
    yield "arrays.pdf", one_page(b"[" * 500_000 + b"]" * 500_000 + b" TJ", "")
    yield (
        "map.pdf",
        with_map(packed(200 << 20, b"1 beginbfrange <0000> <ffff> <0041> endbfrange\n")),
    )


def laughs(*, levels: int, times: int) -> bytes:
    """Return forms that draw forms that draw forms: a line of text to the power of the levels."""
    more = []
    for level in range(levels):
        body = b" ".join([b"/X Do"] * times) if level < levels - 1 else content(lines("ha"))
        inner = f"/XObject<</X {7 + level} 0 R>>" if level < levels - 1 else ""
        words = f"/Type/XObject/Subtype/Form/BBox[0 0 612 792]/Resources<</Font<</F1 5 0 R>>{inner}>>"
        more.append((words, body))
    return one_page(b"/X Do", "", resources="/XObject<</X 6 0 R>>", more=more)


def many_kids(count: int) -> bytes:
    """Return a document that has one page very often."""
    made = Pdf()
    made.add("<</Type/Catalog/Pages 2 0 R>>")
    made.add(f"<</Type/Pages/Count {count}/Kids[{'3 0 R ' * count}]>>")
    made.add(
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>"
    )
    made.stream(content(lines("again")))
    made.add(FONT)
    return made.bytes(1)


def with_map(cmap: bytes) -> bytes:
    """Return a page whose font is explained at great length."""
    made = Pdf()
    made.add("<</Type/Catalog/Pages 2 0 R>>")
    made.add("<</Type/Pages/Count 1/Kids[3 0 R]>>")
    made.add(
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>"
    )
    made.stream(content(lines("text", top=50)))
    made.add(f"{FONT[:-2]}/ToUnicode 6 0 R>>")
    made.add(
        f"<</Filter/FlateDecode/Length {len(cmap)}>>stream\n".encode() + cmap + b"\nendstream"
    )
    return made.bytes(1)


def circles() -> Hostile:
    """Yield files whose parts hold each other."""
    page = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>"
    for name, objects in {
        "tree": ["<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Count 9/Kids[2 0 R 2 0 R]>>"],
        "pair": [
            "<</Type/Catalog/Pages 2 0 R>>",
            "<</Type/Pages/Count 9/Kids[3 0 R]>>",
            "<</Type/Pages/Count 9/Kids[2 0 R]/Parent 2 0 R>>",
        ],
        "root": ["<</Type/Catalog/Pages 1 0 R/Kids[1 0 R]/Count 3>>"],
        "length": [
            "<</Type/Catalog/Pages 2 0 R>>",
            "<</Type/Pages/Count 1/Kids[3 0 R]>>",
            page,
            "4 0 R",
        ],
        "reference": ["<</Type/Catalog/Pages 2 0 R>>", "2 0 R"],
        "labels": [
            "<</Type/Catalog/Pages 2 0 R/PageLabels 4 0 R>>",
            "<</Type/Pages/Count 1/Kids[3 0 R]>>",
            page,
            "<</Kids[4 0 R 4 0 R]>>",
        ],
        "fields": [
            "<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[4 0 R]>>>>",
            "<</Type/Pages/Count 1/Kids[3 0 R]>>",
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Annots[4 0 R]>>",
            "<</Subtype/Widget/FT/Tx/T(a)/V 4 0 R/Kids[4 0 R]/Parent 4 0 R/Rect[0 0 9 9]>>",
        ],
    }.items():
        made = Pdf()
        for body in objects:
            made.add(body)
        yield f"circle-{name}.pdf", made.bytes(1)
    deep = "<</K " * 50_000 + "1" + ">>" * 50_000
    yield "deep.pdf", pdf([lines("x")], more=[deep, "[" * 50_000 + "]" * 50_000])


def lies(rng: random.Random) -> Hostile:
    """Yield files that say what is not so about their own sizes and places."""
    sound = pdf([lines("One line."), lines("Another.")], labels="0<</S/r>>", info="/Title(T)")
    for name, (before, after) in {
        "count": (b"/Count 2", b"/Count 2147483647"),
        "minus": (b"/Count 2", b"/Count -2"),
        "startxref": (b"startxref\n", b"startxref\n99999999999"),
        "size": (b"/Size ", b"/Size 99999999"),
        "box": (b"[0 0 612 792]", b"[0 0 1e38 nan]"),
        "box-turned": (b"[0 0 612 792]", b"[612 792 0 0]"),
        "length": (b"/Length ", b"/Length 9999999"),
        "label": (b"/S/r", b"/S/r/St 2147483647"),
        "filter": (b"/FlateDecode", b"/LZWDecode"),
        "filter-odd": (b"/FlateDecode", b"/NoDecode"),
        "root": (b"/Root ", b"/Root 99"),
        "crypt": (b"/Root ", b"/Encrypt<</Filter/Standard/V 9/R 9>>/Root "),
        "crypt-huge": (
            b"/Root ",
            b"/Encrypt<</Filter/Standard/V 5/R 6/Length 99999/O()/U()>>/Root ",
        ),
    }.items():
        yield f"lie-{name}.pdf", sound.replace(before, after)
    for size in (0, 1, 4, 5, 8, 9, 30):
        yield f"short-{size}.pdf", sound[:size]
    yield "text.pdf", b"no PDF at all"
    yield "zeros.pdf", bytes(1000)
    yield "noise.pdf", b"%PDF-1.7\n" + rng.randbytes(5000)


def damaged(rng: random.Random, count: int = 150) -> Hostile:
    """Yield sound files with damage at random places."""
    sound = [
        pdf([lines("One line."), lines("Another.")], labels="0<</S/r>>", info="/Title(T)"),
        pdf([content(lines("Plain words.", "More of them."))]),
        laughs(levels=3, times=2),
        with_map(zlib.compress(b"1 beginbfchar <41> <D835DC65> endbfchar")),
    ]
    for number in range(count):
        yield f"damaged-{number}.pdf", mutated(rng.choice(sound), rng)


def mutated(data: bytes, rng: random.Random) -> bytes:
    """Return bytes with a few places changed, taken out, put in, doubled or swapped."""
    out = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        if not out:
            break
        at = rng.randrange(len(out))
        size = rng.choice((1, 1, 2, 8, 64))
        match rng.randrange(6):
            case 0:
                out[at] = rng.randrange(256)
            case 1:
                del out[at : at + size]
            case 2:
                out[at:at] = rng.randbytes(size)
            case 3:
                out[at:at] = out[at : at + size] * rng.choice((1, 2, 50))
            case 4:
                out[at : at + size] = rng.choice(
                    (b"0", b"-1", b"99999999999", b"<<", b">>", b"\0", b"[", b" R ")
                )
            case _:
                del out[at:]
    return bytes(out)
