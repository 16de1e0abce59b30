from __future__ import annotations

from ragstone.types import Graph
from ragstone_code.laravel.commands import read_commands
from ragstone_code.laravel.schedule import read_schedule
from tests.ragstone_code.laravel.small import app, links_by_kind, php

CLEAN = php(
    "app/Console/Clean.php",
    "namespace App\\Console;",
    "class Clean extends \\Illuminate\\Console\\Command {",
    "protected $signature = 'shop:clean {--all : Everything}';",
    "protected $description = 'Cleans up';",
    "}",
)
SHIP = php("app/Jobs/Ship.php", "namespace App\\Jobs;", "class Ship {}")


def of(*files: tuple[str, str]) -> Graph:
    own, calls = app(CLEAN, SHIP, *files)
    return read_schedule(own, calls, read_commands(own, calls)[1])


def test_kernel_facade_and_builder_all_schedule_tasks() -> None:
    kernel = php(
        "app/Console/Kernel.php",
        "namespace App\\Console;",
        "use Illuminate\\Console\\Scheduling\\Schedule;",
        "class Kernel { protected function schedule(Schedule $schedule) {",
        "$schedule->command('shop:clean --all')->dailyAt('02:00');",
        "if ($x) { $schedule->job(new \\App\\Jobs\\Ship('a'))->everyMinute()->onOneServer(); }",
        "} }",
    )
    routes = php(
        "routes/console.php",
        "use Illuminate\\Support\\Facades\\Schedule;",
        "Schedule::call(fn () => 1)->name('tidy')->weekly();",
    )
    booting = php(
        "bootstrap/app.php",
        "return X::configure()->withSchedule(function (\\Illuminate\\Console\\Scheduling\\Schedule $s) {",
        "$s->command(\\App\\Console\\Clean::class)->hourly();",
        "});",
    )
    graph = of(kernel, routes, booting)
    assert {node.name: (node.attributes["when"], node.place) for node in graph.nodes} == {
        "command shop:clean --all": (["dailyAt 02:00"], "app/Console/Kernel.php:6"),
        "job App\\Jobs\\Ship(a)": (["everyMinute"], "app/Console/Kernel.php:7"),
        "call tidy": (["weekly"], "routes/console.php:4"),
        "command App\\Console\\Clean": (["hourly"], "bootstrap/app.php:4"),
    }
    assert links_by_kind(graph, "RUNS") == {
        (
            "schedule:command shop:clean --all",
            "App\\Console\\Clean",
            "app/Console/Kernel.php:6",
        ),
        ("schedule:command App\\Console\\Clean", "App\\Console\\Clean", "bootstrap/app.php:4"),
    }
    assert [
        (link.target, link.conditional) for link in graph.links if link.kind == "DISPATCHES"
    ] == [("class:App\\Jobs\\Ship", True)]


def test_two_tasks_of_one_name_are_two_nodes() -> None:
    lines = "Schedule::command('a')->daily();\nSchedule::command('a')->weekly();"
    graph = of(php("routes/console.php", "use Illuminate\\Support\\Facades\\Schedule;", lines))
    assert [(node.name, node.line) for node in graph.nodes] == [
        ("command a", 4),
        ("command a", 5),
    ]
    assert len({node.key for node in graph.nodes}) == 2


def test_other_objects_with_a_command_method_are_no_schedule() -> None:
    assert (
        of(
            php(
                "app/X.php",
                "namespace App;",
                "class X { function f($s) { $s->command('a')->daily(); Bus::job(1); } }",
            )
        ).nodes
        == ()
    )


def test_a_closure_command_is_scheduled_if_a_time_follows() -> None:
    graph = of(
        php(
            "routes/console.php",
            "use Illuminate\\Support\\Facades\\Artisan;",
            "Artisan::command('shop:count', fn () => 1)->purpose('Counts')->hourly();",
            "Artisan::command('shop:hello', fn () => 1)->purpose('Greets');",
            "Artisan::call('shop:clean');",
        )
    )
    assert [(node.key, node.line, node.attributes["when"]) for node in graph.nodes] == [
        ("schedule:command shop:count", 4, ["hourly"])
    ]


def test_times_are_also_written_in_words() -> None:
    kernel = php(
        "app/Console/Kernel.php",
        "namespace App\\Console;",
        "class Kernel { protected function schedule($schedule) {",
        "$time = config('shop.clean_at');",
        "$schedule->command('a')->dailyAt($time);",
        "$schedule->command('b')->twiceDaily(13, 23);",
        "$schedule->command('c')->weeklyOn(1, '2:21');",
        "$schedule->command('d')->everyFiveMinutes()->onOneServer();",
        "$schedule->command('e --all')->hourlyAt(40);",
        "$schedule->command('f')->sundays()->at('02:30');",
        "$schedule->command('g')->monthlyOn(4, '15:00');",
        "if ($x) { $schedule->command('h')->cron('0 5 * * *'); }",
        "$schedule->command('i')->days([0, 3]);",
        "$schedule->command('j')->twiceDailyAt(1, 13, 5);",
        "} }",
    )
    graph = of(kernel)
    assert {node.attributes["runs"]: node.attributes["frequency"] for node in graph.nodes} == {
        "a": ["daily at config(shop.clean_at)"],
        "b": ["twice daily at 13:00 and 23:00"],
        "c": ["weekly on Monday at 2:21"],
        "d": ["every five minutes"],
        "e --all": ["hourly at minute 40"],
        "f": ["sundays", "at 02:30"],
        "g": ["monthly on day 4 at 15:00"],
        "h": ["cron 0 5 * * *"],
        "i": ["on Sunday, Wednesday"],
        "j": ["twice daily at 1:05 and 13:05"],
    }
    assert [
        node.attributes["runs"] for node in graph.nodes if node.attributes["conditional"]
    ] == ["h"]
    assert ("e", "schedule:command e --all") in {
        (alias.name, alias.key) for alias in graph.aliases
    }
