from __future__ import annotations

from ragstone_code.laravel.config import read_config
from tests.ragstone_code.laravel.small import app, php

MAIL = php(
    "config/mail.php",
    "return [",
    "'default' => env('MAIL_MAILER', 'log'),",
    "'mailers' => [",
    "'smtp' => [",
    "'host' => env('MAIL_HOST'), 'port' => 25,",
    "],",
    "],",
    "];",
)


def test_keys_have_lines_and_environment_variables() -> None:
    graph = read_config(*app(MAIL))
    nodes = {node.name: (node.line, dict(node.attributes)) for node in graph.nodes}
    smtp = {"name": "MAIL_HOST"}
    assert nodes == {
        "mail": (
            3,
            {
                "keys": ["default", "mailers"],
                "env": [{"name": "MAIL_MAILER", "default": "log"}, smtp],
            },
        ),
        "mail.default": (4, {"env": [{"name": "MAIL_MAILER", "default": "log"}]}),
        "mail.mailers": (5, {"keys": ["smtp"], "env": [smtp]}),
        "mail.mailers.smtp": (6, {"keys": ["host", "port"], "env": [smtp]}),
    }


def test_an_environment_variable_is_an_alias_of_its_key() -> None:
    names = {
        (alias.name, alias.key)
        for alias in read_config(*app(MAIL)).aliases
        if alias.kind == "env"
    }
    assert names == {
        ("MAIL_MAILER", "config:mail.default"),
        ("MAIL_HOST", "config:mail.mailers.smtp"),
    }


def test_methods_link_to_the_nearest_key_that_they_read() -> None:
    uses = php(
        "app/Send.php",
        "namespace App;",
        "use Illuminate\\Support\\Facades\\Config;",
        "class Send { function go($key) {",
        "config('mail.mailers.smtp.host', 1);",
        "Config::get('mail.default');",
        "config(['mail.from' => 2]);",
        "config()->string('mail.mailers');",
        "config('other.x'); config($key); $this->config('mail'); Config::macro('mail');",
        "} }",
    )
    graph = read_config(*app(MAIL, uses))
    assert [
        (link.source, link.target, link.attributes["key"], link.line) for link in graph.links
    ] == [
        ("method:App\\Send::go", "config:mail.mailers.smtp", "mail.mailers.smtp.host", 6),
        ("method:App\\Send::go", "config:mail.default", "mail.default", 7),
        ("method:App\\Send::go", "config:mail", "mail.from", 8),
        ("method:App\\Send::go", "config:mail.mailers", "mail.mailers", 9),
    ]


def test_a_file_without_a_return_value_has_no_keys() -> None:
    assert read_config(*app(php("config/odd.php", "function x() {}"))).nodes == ()


def test_a_module_merges_its_file_under_its_key() -> None:
    provider = php(
        "modules/Shop/src/Providers/Shop.php",
        "namespace Shop;",
        "class Shop extends \\Illuminate\\Support\\ServiceProvider {",
        "public function register() {",
        "$this->mergeConfigFrom(dirname(__DIR__).'/Config/shop.php', 'mail');",
        "$this->mergeConfigFrom(__DIR__.'/../Config/shop.php', 'shop');",
        "} }",
    )
    own = php("modules/Shop/src/Config/shop.php", "return ['default' => 1, 'prices' => []];")
    nodes = {node.name: node for node in read_config(*app(MAIL, provider, own)).nodes}
    assert nodes["shop.prices"].place == "modules/Shop/src/Config/shop.php:3"
    assert nodes["mail"].place == "config/mail.php:3"
    assert nodes["mail"].attributes["keys"] == ["default", "mailers", "prices"]


def test_a_moved_config_folder_is_found_by_its_database_file() -> None:
    moved = php("app/Config/database.php", "return ['default' => 'x'];")
    assert [node.name for node in read_config(*app(moved)).nodes] == [
        "database",
        "database.default",
    ]


def test_the_comment_above_a_key_is_its_documentation() -> None:
    config_file = php(
        "config/shop.php",
        "return [",
        "/*",
        "| ---",
        "| How prices are rounded.",
        "*/",
        "",
        "'round' => 2,",
        "'x' => 1,",
        "];",
    )
    nodes = {node.name: node.doc for node in read_config(*app(config_file)).nodes}
    assert nodes == {"shop": "", "shop.round": "How prices are rounded.", "shop.x": ""}
