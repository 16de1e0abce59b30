"""Eloquent models: tables, properties and relations."""

from __future__ import annotations

import pytest

from ragstone.types import Graph, Json
from tests.ragstone_code.laravel.shop import model, modelled, node


def mapped(graph: Graph, name: str) -> tuple[str, Json, int, str]:
    """Return a model's table, its source, and the line that names it."""
    link = next(
        link
        for link in graph.links
        if link.kind == "MAPS_TO" and link.source == f"class:App\\Models\\{name}"
    )
    return (
        link.target.removeprefix("table:"),
        link.attributes["how"],
        link.line,
        link.confidence,
    )


def relation(graph: Graph, name: str) -> dict[str, Json]:
    """Return the attributes of a relation without its place."""
    attributes = node(graph, f"relation:App\\Models\\{name}").attributes
    return {
        key: value
        for key, value in attributes.items()
        if key not in ("declared_in", "used_at", "model", "name")
    }


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ([model("BlogPost")], ("blog_posts", "convention", 9, "convention")),
        ([model("BlogPost", "    protected $table = 'texts';")], ("texts", "explicit", 10, "declared")),
        ([model("BlogPost", "    const T = 'a';\n    protected $table = self::T . '_b';")],
         ("a_b", "explicit", 11, "declared")),
        ([model("BlogPost", before="\n#[\\Illuminate\\Database\\Eloquent\\Attributes\\Table('by_attribute')]")],
         ("by_attribute", "attribute", 9, "declared")),
        ([model("BlogPost", "    public function getTable() { return config('blog.table', 'fallback'); }")],
         ("fallback", "explicit", 10, "declared")),
        ([model("BlogPost", "    protected $table = 'blog.texts';")], ("texts", "explicit", 10, "declared")),
        ([model("BlogPost", extends="Pivot")], ("blog_post", "convention", 9, "convention")),
        ([model("BlogPost", extends="MorphPivot")], ("blog_posts", "convention", 9, "convention")),
        ([model("BlogPost", extends="Text"), model("Text", "    protected $table = 'texts';")],
         ("texts", "explicit", 10, "declared")),
        ([model("BlogPost", extends="Text"), model("Text")], ("blog_posts", "convention", 9, "convention")),
        ([model("BlogPost", extends="\\Illuminate\\Notifications\\DatabaseNotification")],
         ("notifications", "convention", 9, "convention")),
    ],
)  # fmt: skip
def test_the_table_of_a_model_comes_from_property_attribute_or_convention(
    files: list[tuple[str, str]], expected: tuple[str, str, int, str]
) -> None:
    assert mapped(modelled(*files), "BlogPost") == expected


def test_other_classes_are_no_models_and_abstract_models_have_no_table() -> None:
    graph = modelled(
        model("Service", extends="\\Some\\Other"),
        ("app/Models/Base.php", "<?php namespace App\\Models; abstract class Base extends "
         "\\Illuminate\\Database\\Eloquent\\Model { function owner() { return $this->belongsTo(Dog::class); } }"),
        ("app/Models/BaseModel.php", "<?php namespace App\\Models; class BaseModel extends "
         "\\Illuminate\\Database\\Eloquent\\Model {}"),
        model("Dog", extends="Base"),
        model("Cat", extends="BaseModel"),
        ("tests/Fake.php", "<?php class Fake extends \\Illuminate\\Database\\Eloquent\\Model {}"),
    )  # fmt: skip
    assert sorted(node.name for node in graph.nodes if node.kind == "model") == [
        "Base",
        "BaseModel",
        "Cat",
        "Dog",
    ]
    assert sorted(link.target for link in graph.links if link.kind == "MAPS_TO") == [
        "table:cats",
        "table:dogs",
    ]
    assert node(graph, "class:App\\Models\\Base").attributes["abstract"] is True


def test_a_model_has_keys_casts_scopes_and_column_lists() -> None:
    graph = modelled(
        model(
            "Order",
            """
            use \\Illuminate\\Database\\Eloquent\\SoftDeletes, \\Illuminate\\Database\\Eloquent\\Concerns\\HasUuids;
            protected $connection = 'shop';
            protected $primaryKey = 'number';
            protected $fillable = ['code', self::EXTRA];
            const EXTRA = 'extra';
            public $timestamps = false;
            protected $casts = ['paid' => 'boolean'];
            protected function casts(): array { return ['state' => State::class]; }
            public function getRouteKeyName() { return 'code'; }
            public function scopeOpen($query) { return $query->where('open', 1); }
            """,
            before="\n#[\\Illuminate\\Database\\Eloquent\\Attributes\\Hidden(['secret'])]",
        )
    )
    attributes = node(graph, "class:App\\Models\\Order").attributes
    assert attributes == {
        "table": "orders", "how": "convention", "primary_key": "number", "key_type": "string",
        "extends": "Illuminate\\Database\\Eloquent\\Model", "connection": "shop", "fillable": ["code", "extra"],
        "hidden": ["secret"], "timestamps": False, "casts": {"paid": "boolean", "state": "App\\Models\\State"},
        "scopes": ["open"], "soft_deletes": True, "route_key": "code", "relations": [],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("$this->hasOne(Book::class)", {"type": "hasOne", "foreign_key": "user_id"}),
        ("$this->hasMany(Book::class, 'owner_id')", {"type": "hasMany", "foreign_key": "owner_id"}),
        ("$this->belongsTo(Book::class)", {"type": "belongsTo", "foreign_key": "related_id"}),
        ("$this->belongsTo('App\\Models\\Book', 'x')", {"type": "belongsTo", "foreign_key": "x"}),
        ("$this->belongsToMany(Book::class)", {"type": "belongsToMany", "pivot": "book_user"}),
        ("$this->belongsToMany(Book::class, null, 'a')",
         {"type": "belongsToMany", "pivot": "book_user", "foreign_pivot_key": "a"}),
        ("$this->belongsToMany(Book::class, 'loans')->as('loan')->withPivot('due', 'back')",
         {"type": "belongsToMany", "pivot": "loans", "as": "loan", "with_pivot": ["due", "back"]}),
        ("$this->belongsToMany(Book::class, Loan::class)->using(Loan::class)",
         {"type": "belongsToMany", "pivot": "loan", "using": "App\\Models\\Loan"}),
        ("$this->hasManyThrough(Book::class, Loan::class)", {"type": "hasManyThrough", "through": "App\\Models\\Loan"}),
        ("$this->hasOneThrough(Book::class, Loan::class)", {"type": "hasOneThrough", "through": "App\\Models\\Loan"}),
        ("$this->morphOne(Book::class, 'shelved')", {"type": "morphOne", "morph": "shelved"}),
        ("$this->morphMany(Book::class, 'shelved')", {"type": "morphMany", "morph": "shelved"}),
        ("$this->morphMany(Book::class, 'shelved', 'kind', 'number')",
         {"type": "morphMany", "morph": "shelved", "morph_type": "kind", "morph_id": "number"}),
        ("$this->morphToMany(Book::class, 'taggable')",
         {"type": "morphToMany", "morph": "taggable", "pivot": "taggables"}),
        ("$this->morphedByMany(Book::class, 'taggable', 'tagged')",
         {"type": "morphedByMany", "morph": "taggable", "pivot": "tagged"}),
        ("$this->hasMany(Book::class)->latest()->where('x', 1)", {"type": "hasMany", "foreign_key": "user_id"}),
        ("$this->hasMany(Book::class)->one()->ofMany('price', 'max')",
         {"type": "hasOne", "foreign_key": "user_id", "of_many": "ofMany"}),
        ("$this->hasOne(Book::class)->latestOfMany()",
         {"type": "hasOne", "foreign_key": "user_id", "of_many": "latestOfMany"}),
        ("$this->loans()->latest()", {"type": "hasMany", "foreign_key": "user_id", "from": "loans"}),
        ("$this->through('loans')->has('book')", {"type": "hasManyThrough", "through": "App\\Models\\Loan"}),
        ("$this->through($this->loans())->has(fn ($loan) => $loan->book())",
         {"type": "hasManyThrough", "through": "App\\Models\\Loan"}),
        ("$this->throughLoans()->hasBook()", {"type": "hasManyThrough", "through": "App\\Models\\Loan"}),
    ],
)  # fmt: skip
def test_every_kind_of_relation_is_read(body: str, expected: dict[str, Json]) -> None:
    graph = modelled(
        model("User", f"    public function related() {{\n        return {body};\n    }}\n"
              "    public function loans() { return $this->hasMany(Loan::class); }"),
        model("Book"),
        model("Loan", "public function book() { return $this->belongsTo(Book::class); }", extends="Pivot"),
    )  # fmt: skip
    to = "App\\Models\\Loan" if "$this->loans()->" in body else "App\\Models\\Book"
    assert relation(graph, "User::related") == {"related": to, **expected}
    link = next(
        link
        for link in graph.links
        if link.kind == "RELATES" and link.attributes["name"] == "related"
    )
    assert (link.source, link.target, link.line) == (
        "class:App\\Models\\User",
        f"class:{to}",
        11,
    )


def test_relations_come_from_traits_parents_and_aliases_of_names() -> None:
    graph = modelled(
        model("Owned", "    use Concerns\\HasMaker;\n    function twin() { return $this->hasOne(self::class); }"),
        model("Thing", "    public function like() { return $this->hasMany(static::class); }\n"
              "    public function other() { return $this->belongsTo(Author::class); }",
              extends="Owned", before="use App\\Models\\Owner as Author;"),
        model("Owner"),
        ("app/Models/Concerns/HasMaker.php", "<?php namespace App\\Models\\Concerns;\nuse App\\Models\\Owner;\n"
         "trait HasMaker {\n public function maker() { return $this->belongsTo(Owner::class); }\n"
         " public function kin() { return $this->belongsToMany(self::class); }\n"
         " public function same() { return $this->hasMany(__CLASS__); }\n}"),
    )  # fmt: skip
    assert node(graph, "class:App\\Models\\Thing").attributes["relations"] == [
        "like", "other", "twin", "maker", "kin", "same",
    ]  # fmt: skip
    related = {
        name: relation(graph, f"Thing::{name}")["related"]
        for name in ("like", "other", "twin", "maker", "same")
    }
    assert related == {
        "like": "App\\Models\\Thing", "other": "App\\Models\\Owner", "twin": "App\\Models\\Owned",
        "maker": "App\\Models\\Owner", "same": "App\\Models\\Thing",
    }  # fmt: skip
    assert relation(graph, "Thing::kin")["pivot"] == "thing_thing"
    maker = node(graph, "relation:App\\Models\\Thing::maker")
    assert (maker.place, maker.attributes["used_at"]) == (
        "app/Models/Concerns/HasMaker.php:4",
        "app/Models/Owned.php:10",
    )


def test_a_morph_to_is_unresolved_and_lists_its_candidates() -> None:
    graph = modelled(
        model("Note", "    public function notable() { return $this->morphTo(); }"),
        model(
            "Book",
            "    public function notes() { return $this->morphMany(Note::class, 'notable'); }",
        ),
        model(
            "Film",
            "    public function note() { return $this->morphOne(Note::class, 'notable'); }",
        ),
    )
    assert relation(graph, "Note::notable") == {
        "type": "morphTo", "related": None, "morph": "notable",
        "candidates": ["App\\Models\\Book", "App\\Models\\Film"],
    }  # fmt: skip
    assert [row.name for row in graph.unresolved] == ["notable"]
    assert graph.remarks == ()


def test_a_method_that_runs_a_relation_query_is_no_relation() -> None:
    graph = modelled(
        model(
            "User",
            """
            public function books() { return $this->hasMany(Book::class); }
            public function count(): int { return $this->books()->count(); }
            public function first() { return $this->hasMany(Book::class)->first(); }
            public function query(): \\Illuminate\\Database\\Eloquent\\Builder { return $this->books()->where('a', 1); }
            public function with(string $name) { return $this->hasMany($name); }
            public static function make() { return (new self)->books(); }
            public function nothing() { $this->hasMany(Book::class); }
            """,
        ),
        model("Book"),
    )
    assert [node.name for node in graph.nodes if node.kind == "model_relation"] == ["books"]


def test_a_related_model_is_evaluated_or_reported_as_unknown() -> None:
    graph = modelled(
        model("Book", """
            public function a() { return $this->belongsTo(owner_class()); }
            public function b() { return $this->belongsTo(config('shop.owner')); }
            public function c() { return $this->belongsTo(session('owner')); }
            public function d() { return $this->belongsTo(\\Vendor\\Models\\Plan::class); }
        """),
        model("Owner"),
        ("app/functions.php", "<?php function owner_class() { return \\App\\Models\\Owner::class; }"),
        ("config/shop.php", "<?php return ['owner' => App\\Models\\Owner::class];"),
    )  # fmt: skip
    assert [relation(graph, f"Book::{name}")["related"] for name in "abcd"] == [
        "App\\Models\\Owner", "App\\Models\\Owner", None, "Vendor\\Models\\Plan",
    ]  # fmt: skip
    assert node(graph, "class:Vendor\\Models\\Plan").attributes == {"outside": True}
    assert graph.remarks == (
        "app/Models/Book.php:13: App\\Models\\Book::c: the related model is not written down",
    )


def test_relations_that_call_each_other_do_not_loop() -> None:
    graph = modelled(model("Loop", """
        public function a() { return $this->b()->latest(); }
        public function b() { return $this->a()->latest(); }
    """))  # fmt: skip
    assert not [node for node in graph.nodes if node.kind == "model_relation"]


def test_relations_added_by_providers_belong_to_the_model() -> None:
    provider = """<?php
namespace App\\Providers;
use App\\Models\\{Book, Owner};
class AppServiceProvider {
    public function boot(): void {
        Book::resolveRelationUsing('keeper', function ($book) {
            return $book->belongsTo(Owner::class, 'kept_by');
        });
    }
}"""
    graph = modelled(
        model("Book"), model("Owner"), ("app/Providers/AppServiceProvider.php", provider)
    )
    assert relation(graph, "Book::keeper") == {
        "type": "belongsTo", "related": "App\\Models\\Owner", "foreign_key": "kept_by",
    }  # fmt: skip
    assert (
        node(graph, "relation:App\\Models\\Book::keeper").place
        == "app/Providers/AppServiceProvider.php:7"
    )
