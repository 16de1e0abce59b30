"""Replay of migrations in order."""

from __future__ import annotations

import re

from tests.ragstone_code.laravel.shop import (
    column,
    column_names,
    links,
    migrated,
    migration,
    model,
    node,
)

ORDERS = migration(
    "2020_01_01_000000_create_orders",
    "Schema::create('orders', fn (Blueprint $t) => $t->id());",
)
TOTAL = migration(
    "2020_02_01_000000_add_total",
    "Schema::table('orders', function (Blueprint $table) {\n    $table->decimal('total', 10, 2)->default(0);\n});",
)


def test_a_table_has_the_columns_of_its_migrations_with_their_lines() -> None:
    graph = migrated(ORDERS, TOTAL)
    assert column_names(graph, "orders") == ["id", "total"]
    assert column(graph, "orders.total") == {
        "name": "total", "type": "decimal", "nullable": False, "total": 10, "places": 2, "default": 0,
        "table": "orders",
    }  # fmt: skip
    assert node(graph, "column:orders.total").place == f"{TOTAL[0]}:11"
    assert links(graph, "CREATES") == [
        ("migration:2020_01_01_000000_create_orders", "table:orders", f"{ORDERS[0]}:10"),
    ]
    assert links(graph, "ALTERS") == [
        ("migration:2020_02_01_000000_add_total", "table:orders", f"{TOTAL[0]}:10")
    ]
    assert {link.confidence for link in graph.links} == {"evaluated"}


def test_without_a_migration_the_table_has_its_earlier_columns() -> None:
    assert column_names(migrated(ORDERS, TOTAL), "orders") == ["id", "total"]
    assert column_names(migrated(ORDERS), "orders") == ["id"]


def test_a_rename_keeps_the_table_but_drop_and_create_make_a_new_one() -> None:
    graph = migrated(
        migration(
            "2020_01_01_000000_a", "Schema::create('tasks', fn ($t) => $t->string('old'));"
        ),
        migration("2020_02_01_000000_b", "Schema::rename('tasks', 'tasks_old');"),
        migration(
            "2020_03_01_000000_c", "Schema::create('tasks', fn ($t) => $t->string('new'));"
        ),
        migration("2020_04_01_000000_d", "Schema::dropIfExists('tasks_old');"),
        migration(
            "2020_05_01_000000_e", "Schema::table('tasks', fn ($t) => $t->string('more'));"
        ),
    )
    assert column_names(graph, "tasks") == ["new", "more"]
    assert node(graph, "table:tasks").attributes["migrations"] == [
        "2020_03_01_000000_c",
        "2020_05_01_000000_e",
    ]
    gone = node(graph, "table:tasks_old#2020_01_01_000000_a")
    assert gone.attributes["dropped"] is True
    assert gone.attributes["former_names"] == ["tasks"]
    assert gone.attributes["migrations"] == [
        "2020_01_01_000000_a",
        "2020_02_01_000000_b",
        "2020_04_01_000000_d",
    ]
    assert [(link.kind, link.target) for link in graph.links if link.source.endswith(("_b", "_d"))] == [
        ("RENAMES", gone.key), ("DROPS", gone.key),
    ]  # fmt: skip


def test_changes_and_foreign_keys_follow_a_renamed_table() -> None:
    graph = migrated(
        migration("2020_01_01_000000_a", "Schema::create('hosts', fn ($t) => $t->id());"),
        migration(
            "2020_01_02_000000_b",
            "Schema::create('jobs', fn ($t) => $t->foreignId('host_id')->constrained());",
        ),
        migration("2020_02_01_000000_c", "Schema::rename('hosts', 'machines');"),
        migration(
            "2020_03_01_000000_d",
            "Schema::table('machines', fn ($t) => $t->renameColumn('id', 'number'));",
        ),
    )
    assert column_names(graph, "machines") == ["number"]
    assert node(graph, "table:machines").attributes["former_names"] == ["hosts"]
    assert node(graph, "table:jobs").attributes["foreign_keys"] == ["host_id->machines.number"]
    assert links(graph, "FOREIGN_KEY") == [
        ("table:jobs", "table:machines", "database/migrations/2020_01_02_000000_b.php:10")
    ]
    assert [alias.name for alias in graph.aliases if alias.kind == "former_table"] == ["hosts"]
    assert (
        column(graph, "machines.number")["renamed_at"]
        == "database/migrations/2020_03_01_000000_d.php:10"
    )


def test_names_come_from_variables_loops_constants_methods_and_config() -> None:
    graph = migrated(
        migration(
            "2020_01_01_000000_a",
            """
            foreach (['books', 'films'] as $name) {
                Schema::create($name, function (Blueprint $table) use ($name) {
                    $table->id();
                    foreach (self::LANGUAGES as $language) { $table->string("title_{$language}"); }
                    $this->stamped($table);
                });
            }
            Schema::create(config('shop.table'), fn ($t) => $t->string(config('shop.none', 'fallback')));
            Schema::create($this->prefix . 'lists', fn ($t) => $t->id());
            """,
            """
            private const LANGUAGES = ['en', 'fr'];
            private string $prefix;
            public function __construct() { $this->prefix = 'my_'; }
            private function stamped(Blueprint $table): void { $table->timestamps(); }
            """,
        ),
        ("config/shop.php", "<?php return ['table' => env('SHOP_TABLE', 'wares')];"),
    )
    assert column_names(graph, "books") == [
        "id",
        "title_en",
        "title_fr",
        "created_at",
        "updated_at",
    ]
    assert column_names(graph, "films") == column_names(graph, "books")
    assert column_names(graph, "wares") == ["fallback"]
    assert column_names(graph, "my_lists") == ["id"]


def test_conditions_on_tables_use_the_tables_at_that_point() -> None:
    graph = migrated(
        ORDERS,
        migration(
            "2020_02_01_000000_b",
            """
            if (! Schema::hasColumn('orders', 'id')) { Schema::drop('orders'); }
            if (Schema::hasTable('orders')) { Schema::table('orders', fn ($t) => $t->string('sure')); }
            Schema::whenTableDoesntHaveColumn('orders', 'code', fn ($t) => $t->string('code'));
            Schema::whenTableHasColumn('orders', 'none', fn ($t) => $t->string('never'));
            if (random_int(0, 1)) { Schema::table('orders', fn ($t) => $t->string('perhaps')); }
            if (DB::getDriverName() === 'sqlite') { Schema::drop('orders'); }
            if (config('database.default') === 'sqlite') { Schema::drop('orders'); }
            """,
        ),
        (
            "config/database.php",
            "<?php return ['default' => 'sqlite', 'connections' => ['sqlite' => ['driver' => 'sqlite']]];",
        ),
    )
    assert column_names(graph, "orders") == ["id", "sure", "code", "perhaps"]
    assert [link.conditional for link in graph.links if link.kind == "ALTERS"] == [
        False,
        False,
        True,
    ]


def test_code_inside_transactions_and_connections_is_followed() -> None:
    graph = migrated(
        migration(
            "2020_01_01_000000_a",
            """
            DB::transaction(function () { Schema::create('a', fn ($t) => $t->id()); });
            Schema::withoutForeignKeyConstraints(fn () => Schema::create('b', fn ($t) => $t->id()));
            Schema::connection('other')->create('c', fn ($t) => $t->id());
            DB::connection()->getSchemaBuilder()->create('d', fn ($t) => $t->id());
            try { Schema::create('e', fn ($t) => $t->id()); } catch (Throwable) { Schema::drop('a'); }
            rescue(fn () => Schema::dropColumns('b', ['id']));
            collect(['x', 'y'])->each(fn ($name) => Schema::create($name, fn ($t) => $t->id()));
            """,
        )
    )
    living = [
        node.name
        for node in graph.nodes
        if node.kind == "table" and not node.attributes["dropped"]
    ]
    assert living == ["b", "c", "d", "e", "x", "y"]
    assert column_names(graph, "b") == []


def test_named_classes_modules_and_macros_of_the_project_are_followed() -> None:
    named = """<?php
    use Illuminate\\Support\\Facades\\Schema;
    class CreateThings extends \\Illuminate\\Database\\Migrations\\Migration {
        public function up() { Schema::create('%s', function ($table) { $table->money('price'); }); }
    }"""
    provider = """<?php
    namespace App\\Providers;
    use Illuminate\\Database\\Schema\\Blueprint;
    class MacroServiceProvider {
        public function boot() {
            Blueprint::macro('money', function ($name) {
                $this->integer("{$name}_cents");
                $this->string('currency', 3);
            });
        }
    }"""
    graph = migrated(
        ("database/migrations/2020_01_01_000000_create_things.php", named % "things"),
        (
            "modules/Blog/Database/Migrations/2019_01_01_000000_create_things.php",
            named % "posts",
        ),
        ("app/Providers/MacroServiceProvider.php", provider),
        ("tests/database/migrations/2020_01_01_000000_create_fakes.php", named % "fakes"),
    )
    assert [node.name for node in graph.nodes if node.kind == "table"] == ["posts", "things"]
    assert column_names(graph, "things") == ["price_cents", "currency"]


def test_foreign_keys_by_model_use_its_table_and_key() -> None:
    graph = migrated(
        migration(
            "2020_01_01_000000_a", "Schema::create('people', fn ($t) => $t->string('code'));"
        ),
        migration(
            "2020_01_02_000000_b",
            """
            Schema::create('pets', function (Blueprint $table) {
                $table->foreignIdFor(\\App\\Models\\Owner::class)->constrained()->cascadeOnDelete();
                $table->foreignIdFor(new \\App\\Models\\Owner, 'second_owner')->nullable();
                $table->unsignedInteger((new \\App\\Models\\Owner)->getTable() . '_count');
            });
            """,
        ),
        model(
            "Owner",
            "protected $table = 'people'; protected $primaryKey = 'code'; protected $keyType = 'string';",
        ),
    )
    assert column_names(graph, "pets") == ["owner_code", "second_owner", "people_count"]
    assert column(graph, "pets.owner_code")["type"] == "uuid"
    assert column(graph, "pets.second_owner")["nullable"] is True
    assert node(graph, "table:pets").attributes["foreign_keys"] == ["owner_code->people.code"]


def test_sql_about_tables_is_applied_and_other_sql_gives_a_remark() -> None:
    graph = migrated(
        ORDERS,
        migration(
            "2020_02_01_000000_b",
            """
            DB::statement('ALTER TABLE `' . DB::getTablePrefix() . 'orders` ADD COLUMN note VARCHAR(20) NULL');
            DB::statement('ALTER TABLE orders RENAME COLUMN note TO remark');
            DB::statement('CREATE TRIGGER t AFTER INSERT ON orders BEGIN SELECT 1; END');
            DB::statement("UPDATE orders SET remark = 'ALTER TABLE orders DROP COLUMN id'");
            DB::statement('ALTER TABLE ' . request('x') . ' DROP COLUMN id');
            """,
        ),
    )
    assert column_names(graph, "orders") == ["id", "remark"]
    assert [link.attributes.get("raw") for link in graph.links if link.kind == "ALTERS"] == [
        True,
        True,
    ]
    assert any("CREATE TRIGGER" in remark for remark in graph.remarks)
    assert any("not written out" in remark for remark in graph.remarks)


def test_unknown_values_give_remarks_and_the_replay_goes_on() -> None:
    graph = migrated(
        migration(
            "2020_01_01_000000_a",
            """
            Schema::create(request('name'), fn ($t) => $t->id());
            Schema::create('known', function ($t) { $t->string(request('column')); $t->unheardOf('x'); $t->id(); });
            Schema::table('from_a_package', fn ($t) => $t->string('extra'));
            """,
        ),
        (
            "database/migrations/2020_01_02_000000_broken.php",
            "<?php return new class extends Migration { function up( {",
        ),
    )
    assert column_names(graph, "known") == ["id"]
    assert node(graph, "table:from_a_package").attributes["partial"] is True
    assert len(graph.remarks) == 4
    assert all(
        remark.startswith("database/migrations/2020_01_01_000000_a.php:1")
        for remark in graph.remarks
    )


def test_a_dump_replaces_deleted_migrations() -> None:
    dump = """CREATE TABLE `migrations` (`id` int unsigned NOT NULL AUTO_INCREMENT, `migration` varchar(255) NOT NULL);
CREATE TABLE `orders` (
  `id` bigint unsigned NOT NULL AUTO_INCREMENT,
  `code` varchar(20) DEFAULT NULL,
  PRIMARY KEY (`id`)
);
INSERT INTO `migrations` VALUES (1,'2018_01_01_000000_gone',1),(2,'2019_01_01_000000_gone',1);
INSERT INTO `migrations` VALUES (3,'2020_01_01_000000_create_orders',1);
"""
    graph = migrated(ORDERS, TOTAL, ("database/schema/mysql-schema.sql", dump))
    assert column_names(graph, "orders") == ["id", "code", "total"]
    assert links(graph, "CREATES")[1] == (
        "migration:mysql-schema", "table:orders", "database/schema/mysql-schema.sql:2"
    )  # fmt: skip
    there = re.sub(r"201._01_01_000000_gone", "2020_02_01_000000_add_total", dump)
    assert column_names(
        migrated(ORDERS, TOTAL, ("database/schema/mysql-schema.sql", there)), "orders"
    ) == [
        "id",
        "total",
    ]
    assert column_names(
        migrated(ORDERS, ("database/schema/testing-schema.sql", dump)), "orders"
    ) == ["id"]
    chosen = (
        "config/database.php",
        "<?php return ['default' => env('DB_CONNECTION', 'testing')];",
    )
    graph = migrated(ORDERS, chosen, ("database/schema/testing-schema.sql", dump))
    assert column_names(graph, "orders") == ["id", "code"]


def test_config_defaults_of_packages_apply_if_the_project_has_none() -> None:
    graph = migrated(
        migration(
            "2020_01_01_000000_a",
            "Schema::create(config('activitylog.table_name'), fn ($t) => $t->id());",
        )
    )
    assert column_names(graph, "activity_log") == ["id"]


def test_a_changed_column_keeps_its_options_only_before_laravel_eleven() -> None:
    files = (
        migration(
            "2020_01_01_000000_a",
            "Schema::create('a', fn ($t) => $t->string('x')->nullable()->default('y'));",
        ),
        migration(
            "2020_01_02_000000_b", "Schema::table('a', fn ($t) => $t->text('x')->change());"
        ),
    )
    old = migrated(
        *files, ("composer.json", '{"require": {"laravel/framework": "^9.0|^10.2"}}')
    )
    new = migrated(*files, ("composer.json", '{"require": {"laravel/framework": "^12.0"}}'))
    assert (column(old, "a.x")["type"], column(old, "a.x")["nullable"]) == ("text", True)
    assert (column(new, "a.x")["type"], column(new, "a.x")["nullable"]) == ("text", False)


def test_a_loop_over_columns_is_one_link_and_a_file_of_sql_is_read() -> None:
    graph = migrated(
        ORDERS,
        migration(
            "2020_02_01_000000_b",
            """
            foreach (['x', 'y'] as $name) {
                Schema::table('orders', function ($table) use ($name) { $table->string($name); });
            }
            DB::unprepared(file_get_contents(database_path('more.sql')));
            """,
        ),
        ("database/more.sql", "CREATE TABLE more (id int); ALTER TABLE orders ADD z int;"),
    )
    assert column_names(graph, "orders") == ["id", "x", "y", "z"]
    changes = [
        (link.attributes["columns"], link.line) for link in graph.links if link.kind == "ALTERS"
    ]
    assert changes == [(["x", "y"], 12), (["z"], 14)]
    assert column_names(graph, "more") == ["id"]


def test_providers_add_migration_folders_and_names_may_repeat() -> None:
    provider = """<?php
    namespace Blog\\Providers;
    class BlogServiceProvider extends \\Illuminate\\Support\\ServiceProvider {
        public function boot() { $this->loadMigrationsFrom(__DIR__ . '/../tables'); }
    }"""
    text = ORDERS[1]
    graph = migrated(
        ("blog/Providers/BlogServiceProvider.php", provider),
        ("blog/tables/2020_01_01_000000_create_posts.php", text.replace("orders", "posts")),
        ("a/migrations/2020_01_01_000000_create_orders.php", text),
        ("b/migrations/2020_01_01_000000_create_orders.php", text.replace("orders", "bills")),
    )
    assert [node.name for node in graph.nodes if node.kind == "table"] == [
        "orders",
        "bills",
        "posts",
    ]
    keys = [node.key for node in graph.nodes]
    assert len(keys) == len(set(keys))
