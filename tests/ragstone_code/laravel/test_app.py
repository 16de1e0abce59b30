from __future__ import annotations

from ragstone_code.laravel.app import App, class_aliases
from ragstone_code.laravel.unread_folders import find_unread_folders
from tests.ragstone_code.laravel.small import app, php, world

BASE = php(
    "app/Base.php",
    "namespace App;",
    "abstract class Base { use Loud; protected $table = 'x'; function run() {} }",
)
LOUD = php("app/Loud.php", "namespace App;", "trait Loud { public function shout() {} }")
CHILD = php(
    "app/Child.php", "namespace App;", "class Child extends Base implements \\Countable {}"
)


def test_lineage_lists_the_class_and_its_ancestors() -> None:
    own, _ = app(BASE, LOUD, CHILD)
    assert list(own.lineage("App\\Child")) == [
        "App\\Child",
        "App\\Base",
        "Countable",
        "App\\Loud",
    ]
    assert own.is_a("\\App\\child", frozenset(("countable",)))
    assert not own.is_a("App\\Base", frozenset(("countable",)))


def test_a_class_that_extends_itself_does_not_hang() -> None:
    own, _ = app(php("a.php", "class A extends B {}", "class B extends A {}"))
    assert list(own.lineage("A")) == ["A", "B"]


def test_methods_and_properties_are_found_in_ancestors() -> None:
    own, _ = app(BASE, LOUD, CHILD)
    method = own.find_method("App\\Child", "shout")
    field = own.find_property("App\\Child", "table")
    assert method is not None
    assert (method[0].uri, method[1].line) == ("app/Loud.php", 4)
    assert field is not None
    assert field[0].name == "App\\Base"
    assert own.find_method("App\\Child", "none") is None
    assert own.find_property("App\\Child", "none") is None


def test_tests_and_installed_packages_are_no_sources() -> None:
    composer = ("composer.json", '{"autoload-dev": {"psr-4": {"Checks\\\\": "checks/"}}}')
    paths = [
        "app/A.php",
        "tests/B.php",
        "vendor/x/C.php",
        "checks/D.php",
        "modules/shop/tests/E.php",
        "lang/en/f.php",
    ]
    own, _ = app(composer, *(php(path, "class X {}") for path in paths))
    assert own.sources == ("app/A.php",)


def test_a_folder_that_composer_also_loads_for_development_is_a_source() -> None:
    composer = (
        "composer.json",
        '{"autoload": {"psr-4": {"App\\\\": ["app/"]}},'
        ' "autoload-dev": {"psr-4": {"App\\\\": "app/", "Checks\\\\": "checks/"}}}',
    )
    own, _ = app(composer, php("app/A.php", "class A {}"), php("checks/B.php", "class B {}"))
    assert own.sources == ("app/A.php",)
    assert find_unread_folders(own) == []


def test_a_folder_whose_classes_are_left_out_is_reported_as_unread() -> None:
    composer = ("composer.json", '{"autoload": {"psr-4": {"App\\\\": "storage/code/"}}}')
    own, _ = app(composer, php("storage/code/A.php", "class A {}"))
    assert own.classes == {}
    assert find_unread_folders(own) == ["storage/code/"]


def test_a_composer_file_without_json_is_ignored() -> None:
    assert App(world({"composer.json": "{", "app/A.php": "<?php class A {}"})).sources == (
        "app/A.php",
    )
    assert App(world({"composer.json": "[]", "app/A.php": "<?php class A {}"})).sources == (
        "app/A.php",
    )


def test_a_class_has_a_qualified_and_a_short_alias() -> None:
    own, _ = app(BASE, LOUD, CHILD)
    node = own.class_node("App\\Child", "job")
    assert (node.key, node.name, node.place) == ("class:App\\Child", "Child", "app/Child.php:4")
    assert [(alias.name, alias.kind) for alias in class_aliases((node,))] == [
        ("App\\Child", "class"),
        ("Child", "short_class"),
    ]
    assert own.class_node("Else\\Where", "event").uri == ""
    assert own.declared_name("app\\CHILD") == "App\\Child"
