from __future__ import annotations

from ragstone_code.laravel.commands import read_commands
from tests.ragstone_code.laravel.small import app, php

BASE = "extends \\Illuminate\\Console\\Command"


def test_a_command_is_called_by_the_first_word_of_its_signature() -> None:
    command = php(
        "app/One.php",
        "namespace App;",
        f"class One {BASE} {{",
        "protected $signature = 'shop:one",
        "  {id : Which}';",
        "protected $description = 'Does one';",
        "}",
    )
    graph, names = read_commands(*app(command))
    assert names == {"shop:one": "App\\One"}
    assert graph.nodes[0].attributes == {
        "command": "shop:one",
        "signature": "shop:one {id : Which}",
        "description": "Does one",
    }
    assert ("shop:one", "class:App\\One", "command") in {
        (alias.name, alias.key, alias.kind) for alias in graph.aliases
    }


def test_php_attributes_name_a_command() -> None:
    two = php(
        "app/Two.php",
        "namespace App;",
        "#[\\Symfony\\Component\\Console\\Attribute\\AsCommand(name: 'shop:two', description: 'Two')]",
        f"class Two {BASE} {{}}",
    )
    three = php(
        "app/Three.php",
        "namespace App;",
        "use Illuminate\\Console\\Attributes\\{Signature, Description};",
        "#[Signature('shop:three {x}')]",
        "#[Description('Three')]",
        f"class Three {BASE} {{}}",
    )
    graph, names = read_commands(*app(two, three))
    assert names == {"shop:two": "App\\Two", "shop:three": "App\\Three"}
    assert {node.attributes["description"] for node in graph.nodes} == {"Two", "Three"}


def test_a_closure_can_be_a_command() -> None:
    routes = php(
        "routes/console.php",
        "use Illuminate\\Support\\Facades\\Artisan;",
        "Artisan::command('shop:four {x}', function () {});",
    )
    graph, names = read_commands(*app(routes))
    assert names == {}
    assert [(node.key, node.place) for node in graph.nodes] == [
        ("command:shop:four", "routes/console.php:4")
    ]
