from __future__ import annotations

from ragstone.code.frameworks.laravel.config import settings
from tests.code.frameworks.laravel.small import app, php

MAIL = php(
    "config/mail.php", "return [", "'default' => env('MAIL_MAILER', 'log'),", "'mailers' => [", "'smtp' => [",
    "'host' => env('MAIL_HOST'), 'port' => 25,", "],", "],", "];",
)  # fmt: skip


def test_keys_have_their_lines_and_the_names_of_the_environment() -> None:
    graph = settings(*app(MAIL))
    told = {node.name: (node.line, dict(node.attributes)) for node in graph.nodes}
    smtp = {"name": "MAIL_HOST"}
    assert told == {
        "mail": (3, {"keys": ["default", "mailers"], "env": [{"name": "MAIL_MAILER", "default": "log"}, smtp]}),
        "mail.default": (4, {"env": [{"name": "MAIL_MAILER", "default": "log"}]}),
        "mail.mailers": (5, {"keys": ["smtp"], "env": [smtp]}),
        "mail.mailers.smtp": (6, {"keys": ["host", "port"], "env": [smtp]}),
    }


def test_a_name_of_the_environment_leads_to_the_key_that_reads_it() -> None:
    names = {(one.name, one.key) for one in settings(*app(MAIL)).aliases if one.kind == "env"}
    assert names == {("MAIL_MAILER", "config:mail.default"), ("MAIL_HOST", "config:mail.mailers.smtp")}


def test_methods_that_read_a_setting_are_linked_to_the_nearest_key() -> None:
    uses = php(
        "app/Send.php", "namespace App;", "use Illuminate\\Support\\Facades\\Config;", "class Send { function go($key) {",
        "config('mail.mailers.smtp.host', 1);", "Config::get('mail.default');", "config(['mail.from' => 2]);",
        "config()->string('mail.mailers');", "config('other.x'); config($key); $this->config('mail'); Config::macro('mail');", "} }",
    )  # fmt: skip
    graph = settings(*app(MAIL, uses))
    assert [(link.source, link.target, link.attributes["key"], link.line) for link in graph.links] == [
        ("method:App\\Send::go", "config:mail.mailers.smtp", "mail.mailers.smtp.host", 6),
        ("method:App\\Send::go", "config:mail.default", "mail.default", 7),
        ("method:App\\Send::go", "config:mail", "mail.from", 8),
        ("method:App\\Send::go", "config:mail.mailers", "mail.mailers", 9),
    ]


def test_a_file_that_returns_nothing_is_no_setting() -> None:
    assert settings(*app(php("config/odd.php", "function x() {}"))).nodes == ()
