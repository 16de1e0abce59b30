"""Types of files: suffixes and names with their kind and language, the types that no reader takes, and the formats.

A format is more than plain text and has a reading function. It returns a `Document` or raises `ReadError`, opens no file,
starts nothing, and runs in the confined process.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar, cast

from ragstone.types import Document

_CODE: Final = """
python py pyi pyw pyx pxd
javascript js mjs cjs jsx
typescript ts mts cts tsx
php php phtml
swift swift
go go
rust rs
java java
kotlin kt kts
c c h
cpp cc cpp cxx hpp hxx hh ipp
csharp cs csx
ruby rb rake gemspec
scala scala sbt
groovy groovy gradle
objectivec m mm
lua lua
perl pl pm
r r
julia jl
dart dart
elixir ex exs
erlang erl hrl
haskell hs lhs
ocaml ml mli
fsharp fs fsx fsi
clojure clj cljs cljc edn
lisp lisp el scm rkt
zig zig
nim nim
solidity sol
assembly asm s
fortran f90 f95 f03 for
pascal pas
vb vb
shell sh bash zsh fish ksh
powershell ps1 psm1 psd1
batch bat cmd
sql sql
css css scss sass less
vue vue
svelte svelte
astro astro
graphql graphql gql
protobuf proto
thrift thrift
cuda cu cuh
glsl glsl vert frag
verilog v sv
vhdl vhd vhdl
nix nix
blade twig
tcl tcl
vim vim
"""
_DOC: Final = """
markdown md markdown mdown mkd mdx mdc qmd
rst rst
asciidoc adoc asciidoc
text txt text
html html htm xhtml
latex tex bib
org org
man 1 2 3 5 7 8
docx docx docm dotx
pptx pptx pptm ppsx
odt odt ott
odp odp
epub epub
pdf pdf
textile textile
wiki mediawiki wiki
"""
_CONFIG: Final = """
toml toml
yaml yaml yml
json json json5 jsonc webmanifest
ini ini cfg conf cnf properties editorconfig desktop service
xml xml xsd xsl xslt plist csproj vcxproj props targets
hcl tf hcl
cmake cmake
make mk
dotenv env
docker dockerfile
"""
_DATA: Final = """
xlsx xlsx xlsm xltx
ods ods
csv csv
tsv tsv tab
jsonl jsonl ndjson
text log
diff diff patch
subtitles srt vtt
"""
_NAMES: Final = {
    ("config", "make"): "makefile gnumakefile",
    ("config", "docker"): "dockerfile containerfile",
    ("config", "cmake"): "cmakelists.txt",
    (
        "config",
        "text",
    ): "requirements.txt constraints.txt go.mod procfile codeowners .gitattributes",
    ("config", "gitignore"): ".gitignore .ragstoneignore .dockerignore",
    ("config", "ini"): ".editorconfig",
    ("code", "groovy"): "jenkinsfile",
    ("code", "ruby"): "vagrantfile rakefile gemfile podfile",
    (
        "doc",
        "text",
    ): "license copying notice authors changelog changes contributing todo",
}
_PROGRAMS: Final = {
    "python": "python pypy",
    "javascript": "node",
    "typescript": "deno bun",
    "shell": "bash sh dash zsh ksh fish",
    "powershell": "pwsh",
    "r": "rscript",
    "tcl": "tclsh",
    **{name: name for name in ("php", "ruby", "perl", "lua", "julia", "awk", "make")},
}
_REFUSED: Final = {
    "image": "png jpg jpeg gif bmp tif tiff webp ico icns heic heif avif psd xcf raw svg eps ai",
    "audio": "mp3 wav flac ogg oga opus m4a aac wma aiff mid midi",
    "video": "mp4 m4v mov avi mkv webm wmv flv mpg mpeg 3gp ogv",
    "archive": "zip tar gz tgz bz2 tbz xz txz 7z rar zst lz4 lzma cab iso dmg jar war whl egg deb rpm apk gem",
    "old office document": "doc dot xls xlt ppt pps",
    "office document": "xlsb rtf pages numbers mobi azw3 vsd vsdx",
    "font": "ttf otf woff woff2 eot",
    "program": "exe dll so dylib a o obj lib bin elf com msi class pyc pyo pyd wasm node beam ko",
    "database": "db sqlite sqlite3 db3 mdb accdb db-wal db-shm",
    "binary data": "npy npz pkl pickle pt pth onnx safetensors h5 hdf5 parquet feather arrow avro mat joblib gguf",
    "3D model": "stl glb gltf blend fbx 3ds usdz",
    "encrypted file": "gpg pgp age",
}


Value = TypeVar("Value")


def _invert(table: Mapping[Value, str]) -> dict[str, Value]:
    """Return each word of the table's texts with its key."""
    keys: dict[str, Value] = {}
    for key, words in table.items():
        keys.update(dict.fromkeys(words.split(), key))
    return keys


def _index_suffixes(kind: str, table: str) -> dict[str, tuple[str, str]]:
    """Return suffix → (kind, language) for lines of a language and its suffixes."""
    lines = table.strip().split("\n")
    rows = [line.split(maxsplit=1) for line in lines]
    return _invert({(kind, language): suffixes for language, suffixes in rows})


SUFFIXES: Final = {
    **_index_suffixes("code", _CODE),
    **_index_suffixes("doc", _DOC),
    **_index_suffixes("config", _CONFIG),
    **_index_suffixes("data", _DATA),
}
IMAGE_SUFFIXES: Final = frozenset({"png", "jpg", "jpeg"})
"""Of pictures whose text can be recognised."""
NAMES: Final = _invert(_NAMES)
PROGRAMS: Final = _invert(_PROGRAMS)
_REFUSED_SUFFIXES: Final = _invert(_REFUSED)


def suffix_of(name: str) -> str:
    """Return a file name's last suffix in lower case, without its dot; a leading dot does not start one."""
    dot = name.rfind(".")
    if dot <= 0:
        return ""
    return name[dot + 1 :].lower()


def name_of(uri: str) -> str:
    """Return the last part of a uri."""
    return uri[uri.rfind("/") + 1 :]


def is_image(uri: str) -> bool:
    """Return whether a file is a picture whose text can be recognised, by its name."""
    return suffix_of(name_of(uri)) in IMAGE_SUFFIXES


def explain_refusal(uri: str, *, ocr: bool = False) -> str | None:
    """Return why no reader takes a file with this name, or None. With `ocr` pictures are taken."""
    suffix = suffix_of(name_of(uri))
    if ocr and suffix in IMAGE_SUFFIXES:
        return None
    description = _REFUSED_SUFFIXES.get(suffix)
    if description is None:
        return None
    return f"unsupported type .{suffix} ({description})"


_OWN_HEADER: Final = re.compile(
    rb'\s*\{\s*"(?:(?P<key>ragstone_export|ragstone_session)"|format"\s*:\s*"ragstone vectors \d)'
    rb"|ragstone-vectors:\d+:"
)
_OWN_EXPORTS: Final = {
    b"ragstone_export": "export of Ragstone (`ragstone import` reads it)",
    b"ragstone_session": "export of Ragstone (`ragstone sessions import` reads it)",
}


def explain_own_data(data: bytes) -> str | None:
    """Return why a file that Ragstone wrote is no document: it repeats the index. None for other files."""
    header = _OWN_HEADER.match(data)
    if header is None:
        return None
    return _OWN_EXPORTS.get(header["key"], "vectors that Ragstone wrote")


ReadFunction = Callable[[bytes, str], Document]

READERS_VERSION: Final = "read/3"
"""Stored with each document. After a change of this version all files are read again."""

OCR_VERSION: Final = "ocr/1"
"""Also stored if pictures and scanned pages are read."""


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its name, its suffixes, and its reading function as `module:function`."""

    name: str
    suffixes: tuple[str, ...]
    reader: str
    magic: bytes = b""
    """The first bytes of every file of the format, if they prove the format under any name."""

    def load(self) -> ReadFunction:
        """Return the reading function; this imports its module and the packages that it needs."""
        module, _, function = self.reader.partition(":")
        return cast(ReadFunction, getattr(importlib.import_module(module), function))


FORMATS: Final = (
    Format("pdf", ("pdf",), "ragstone.read.pdf:read", magic=b"%PDF-"),
    Format("scanned-pdf", (), "ragstone.read.pdf:read_scanned"),
    Format("html", ("html", "htm", "xhtml"), "ragstone.read.html:read"),
    Format("docx", ("docx", "docm", "dotx"), "ragstone.read.docx:read"),
    Format("pptx", ("pptx", "pptm", "ppsx"), "ragstone.read.pptx:read"),
    Format("xlsx", ("xlsx", "xlsm", "xltx"), "ragstone.read.xlsx:read"),
    Format("odt", ("odt", "ott"), "ragstone.read.odf:read_text"),
    Format("ods", ("ods",), "ragstone.read.odf:read_sheets"),
    Format("odp", ("odp",), "ragstone.read.odf:read_slides"),
    Format("epub", ("epub",), "ragstone.read.epub:read"),
    Format("notebook", ("ipynb",), "ragstone.read.notebook:read"),
)


def _by_suffix() -> dict[str, Format]:
    formats: dict[str, Format] = {}
    for each in FORMATS:
        formats.update(dict.fromkeys(each.suffixes, each))
    return formats


_FORMATS_BY_SUFFIX: Final = _by_suffix()
FORMAT_SUFFIXES: Final = frozenset(_FORMATS_BY_SUFFIX)


def find_format(uri: str, data: bytes = b"") -> Format | None:
    """Return the format of a file by its suffix, or else by its first bytes; None for plain text."""
    by_suffix = _FORMATS_BY_SUFFIX.get(suffix_of(name_of(uri)))
    if by_suffix is not None:
        return by_suffix
    for each in FORMATS:
        if each.magic and data.startswith(each.magic):
            return each
    return None
