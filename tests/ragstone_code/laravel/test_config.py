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


def test_keys_have_their_lines_and_the_names_of_the_environment() -> None:
    graph = read_config(*app(MAIL))
    told = {node.name: (node.line, dict(node.attributes)) for node in graph.nodes}
    smtp = {"name": "MAIL_HOST"}
    assert told == {
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


def test_a_name_of_the_environment_leads_to_the_key_that_reads_it() -> None:
    names = {(one.name, one.key) for one in read_config(*app(MAIL)).aliases if one.kind == "env"}
    assert names == {
        ("MAIL_MAILER", "config:mail.default"),
        ("MAIL_HOST", "config:mail.mailers.smtp"),
    }


def test_methods_that_read_a_setting_are_linked_to_the_nearest_key() -> None:
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


def test_a_file_that_returns_nothing_is_no_setting() -> None:
    assert read_config(*app(php("config/odd.php", "function x() {}"))).nodes == ()


def test_a_module_adds_its_own_file_under_the_key_it_names() -> None:
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
    told = {node.name: node for node in read_config(*app(MAIL, provider, own)).nodes}
    assert told["shop.prices"].place == "modules/Shop/src/Config/shop.php:3"
    assert told["mail"].place == "config/mail.php:3"
    assert told["mail"].attributes["keys"] == ["default", "mailers", "prices"]


def test_settings_that_were_moved_are_found_by_the_files_every_application_has() -> None:
    moved = php("app/Config/database.php", "return ['default' => 'x'];")
    assert [node.name for node in read_config(*app(moved)).nodes] == [
        "database",
        "database.default",
    ]


def test_what_is_written_above_a_key_is_what_it_is_for() -> None:
    told = php(
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
    nodes = {node.name: node.doc for node in read_config(*app(told)).nodes}
    assert nodes == {"shop": "", "shop.round": "How prices are rounded.", "shop.x": ""}
