"""Definitions in languages without a grammar."""

from __future__ import annotations

import pytest

from ragstone import Document
from ragstone.chunk.chunkers import chunker_for

CASES = {
    "clojure": (
        "(ns my.app)\n(defn- add-track [x] x)\n(def limit 1)\n",
        "my.app add-track limit",
    ),
    "dart": ("abstract class A extends B {\n  void go() {}\n}\nmixin M {}\n", "A M"),
    "erlang": ("-module(tracks).\n-record(track, {title}).\n", "tracks track"),
    "fsharp": ("let rec add x = x\nletter\ntype Track = { T: int }\n", "add Track"),
    "graphql": ("type Track { a: Int }\ndirective @auth on X\n", "Track auth"),
    "groovy": ("class A { def go() {} }\ndef top() {}\n", "A top"),
    "julia": ("function add!(x)\nend\nmutable struct T\nend\n", "add! T"),
    "lisp": ("(defun add-track (x) x)\n(setq y 1)\n", "add-track"),
    "nim": ("proc add*(x: int) = discard\n", "add"),
    "objectivec": ("@implementation Track\n@end\n", "Track"),
    "ocaml": ("let rec add x = x\nmodule type S = sig end\n", "add S"),
    "pascal": ("procedure TLib.Add(x: Integer);\n", "TLib.Add"),
    "perl": ("package Music::Library;\nsub add_track {\n}\n", "Music::Library add_track"),
    "powershell": ("function Add-Track {\n}\n", "Add-Track"),
    "protobuf": ("service Lib {\n  rpc Add(Track) returns (Track);\n}\n", "Lib Add"),
    "r": ("add_track <- function(x) {\n}\nx <- 3\n", "add_track"),
    "solidity": ("contract Lib {\n  function add(uint x) public {}\n}\n", "Lib add"),
    "elixir": (
        "defmodule My.App do\n  def run(x), do: x\n  defp inner(y) do\n",
        "My.App run inner",
    ),
    "shell": ("foo() {\n  echo {a,b}\n}\nfunction bar {\n}\nfunction baz() {\n", "foo bar baz"),
    "zig": ("pub fn main() void {\nconst Track = struct {\n", "main Track"),
    "haskell": ("data Track = Track\nclass Playable a where\n", "Track Playable"),
    "scala": ("case class Track(a: Int)\nobject Library\n", "Track Library"),
    "sql": (
        "CREATE TABLE IF NOT EXISTS public.users (id int);\ncreate or replace view v as\n"
        "select created from t;\n",
        "public.users v",
    ),
    "vb": ("Public Class Lib\n  Private Sub Add()\n", "Lib Add"),
}


@pytest.mark.parametrize("language", CASES)
def test_a_keyword_at_the_start_of_a_line_names_a_definition(language: str) -> None:
    text, expected = CASES[language]
    document = Document("file", text, kind="code", language=language)
    chunks = chunker_for(document).chunk(document)
    assert [chunk.symbol for chunk in chunks] == [expected]


def test_a_language_that_is_unknown_defines_nothing() -> None:
    document = Document("file", "class A\nfunction b\n", kind="code", language="cobol")
    assert [chunk.symbol for chunk in chunker_for(document).chunk(document)] == [""]


def test_a_long_line_without_a_name_is_read_quickly() -> None:
    text = "public " * 2_000 + "\n" + "create " * 2_000
    for language in CASES:
        document = Document("file", text, kind="code", language=language)
        assert chunker_for(document).chunk(document)
