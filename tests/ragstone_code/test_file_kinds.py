"""The kinds of files that frameworks have, by path and text; and that filters find them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone import Engine
from ragstone.read import document_kinds
from ragstone.read.choose_reader import reader_for

FAKE = {"rag.embedding_provider": "fake", "search.watch": "off"}
LARAVEL = {
    "app/Http/Controllers/SongController.php": (
        "controller",
        "<?php\nclass SongController extends Controller { function play() { return 'heron'; } }\n",
    ),
    "app/Models/Song.php": ("model", "<?php\nclass Song extends Model { /* heron */ }\n"),
    "app/Http/Middleware/Locale.php": ("middleware", "<?php\nclass Locale { /* heron */ }\n"),
    "app/Http/Requests/StoreSong.php": (
        "request",
        "<?php\nclass StoreSong extends FormRequest { /* heron */ }\n",
    ),
    "app/Http/Resources/SongResource.php": (
        "resource",
        "<?php\nclass SongResource extends JsonResource { /* heron */ }\n",
    ),
    "app/Policies/SongPolicy.php": ("policy", "<?php\nclass SongPolicy { /* heron */ }\n"),
    "app/Events/SongPlayed.php": ("event", "<?php\nclass SongPlayed { /* heron */ }\n"),
    "app/Listeners/CountPlay.php": ("listener", "<?php\nclass CountPlay { /* heron */ }\n"),
    "app/Jobs/Encode.php": ("job", "<?php\nclass Encode { /* heron */ }\n"),
    "app/Services/Player.php": ("service", "<?php\nfinal class Player { /* heron */ }\n"),
    "database/migrations/2024_01_01_000000_create_songs_table.php": (
        "migration",
        "<?php\nreturn new class extends Migration { /* heron */ };\n",
    ),
    "routes/web.php": ("route", "<?php\nRoute::get('/heron', fn () => 1);\n"),
    "config/heron.php": ("config", "<?php\nreturn ['heron' => 1];\n"),
    "tests/Feature/SongTest.php": ("test", "<?php\nclass SongTest { /* heron */ }\n"),
    "resources/views/song.blade.php": ("view", "<p>{{ $heron }}</p>\n"),
    "composer.json": ("package", '{"name": "heron/app", "require": {"php": "^8"}}\n'),
    "openapi.yaml": (
        "openapi",
        "openapi: 3.0.0\ninfo:\n  title: Heron\npaths:\n  /heron:\n    get:\n      summary: A heron\n",
    ),
}
OTHERS = {
    "shop/views.py": ("controller", "def index(request):\n    return request\n"),
    "shop/urls.py": ("route", "urlpatterns = [path('', index)]\n"),
    "shop/models.py": ("model", "class Item(models.Model):\n    pass\n"),
    "shop/migrations/0001_initial.py": (
        "migration",
        "class Migration(migrations.Migration): ...\n",
    ),
    "shop/forms.py": ("request", "class ItemForm(forms.ModelForm): ...\n"),
    "shop/serializers.py": ("resource", "class ItemSerializer(Serializer): ...\n"),
    "shop/permissions.py": ("policy", "class IsOwner(BasePermission): ...\n"),
    "shop/middleware.py": ("middleware", "class LocaleMiddleware: ...\n"),
    "shop/tasks.py": ("job", "@shared_task\ndef send(): ...\n"),
    "shop/signals.py": ("listener", "@receiver(saved)\ndef on_saved(**kwargs): ...\n"),
    "shop/events.py": ("event", "saved = Signal()\n"),
    "shop/services.py": ("service", "def order(): ...\n"),
    "site/settings.py": ("config", "INSTALLED_APPS = []\n"),
    "shop/templates/item.html": ("view", "<p>{% block a %}{{ item }}{% endblock %}</p>"),
    "tests/test_shop.py": ("test", "def test_order(): ...\n"),
    "api/items.py": ("route", '@router.get("/items")\ndef items(): ...\n'),
    "web/app.py": ("route", "@app.route('/')\ndef home(): ...\n"),
    "alembic/versions/1a.py": ("migration", "def upgrade():\n    op.add_column()\n"),
    "src/routes/users.js": ("route", "router.get('/users', list)\n"),
    "src/controllers/users.js": ("controller", "exports.list = (req, res) => res.json([])\n"),
    "src/middleware/auth.ts": ("middleware", "export function auth(req, res, next) {}\n"),
    "src/users/users.service.ts": ("service", "export class UsersService {}\n"),
    "src/users/user.entity.ts": ("model", "@Entity()\nexport class User {}\n"),
    "src/users/create-user.dto.ts": ("request", "export class CreateUserDto {}\n"),
    "src/users/users.spec.ts": ("test", "it('works', () => {})\n"),
    "app/controllers/users_controller.rb": ("controller", "class UsersController\nend\n"),
    "db/migrate/1_create_users.rb": ("migration", "class CreateUsers\nend\n"),
    "server/store_test.go": ("test", "package server\n"),
}
NONE = {
    "lib/events.py": "def fire(): ...\n",
    "lib/models.py": "class Model:\n    pass\n",
    "lib/app.py": 'class App:\n    """\n    @app.route("/")\n    def index(): ...\n    """\n',
    "src/events/emitter.ts": "export class Emitter {}\n",
    "lib/migrations/helper.php": "<?php function help() {}\n",
    "docs/policies/index.html": "<p>No template.</p>",
}


def kind_of(path: str, text: str) -> str:
    data = text.encode()
    return reader_for(path, data).read(data, path).kind


@pytest.mark.parametrize("path", [*LARAVEL, *OTHERS])
def test_a_file_has_the_kind_that_its_framework_gives_it(path: str) -> None:
    kind, text = {**LARAVEL, **OTHERS}[path]
    assert kind_of(path, text) == kind


@pytest.mark.parametrize("path", NONE)
def test_a_folder_name_alone_is_no_proof(path: str) -> None:
    assert kind_of(path, NONE[path]) in ("code", "doc")


def write(folder: Path) -> None:
    for name, (_, text) in LARAVEL.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def test_kinds_are_found_by_source_types_and_by_filters(tmp_path: Path) -> None:
    write(tmp_path)
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.sync()
        for path, (kind, _) in LARAVEL.items():
            hits = engine.search("heron", mode="words", filters={"kind": kind}, top_k=50)
            uris = {
                hit.source_doc_id for hit in hits if not hit.source_doc_id.startswith("graph:")
            }
            assert uris == {path}, kind
            chunks = engine.retrieve("heron", source_types=[kind], min_score=0).chunks
            assert path in {chunk.source_doc_id for chunk in chunks}, kind
        code = engine.search("heron", mode="words", filters={"kind": "code"}, top_k=50)
        assert len({hit.source_doc_id for hit in code}) == 14
        others = engine.search(
            "heron", mode="words", filters={"kind": {"ne": "code"}}, top_k=50
        )
        uris = {hit.source_doc_id for hit in others}
        assert {"composer.json", "config/heron.php"} <= uris
        assert not uris & {hit.source_doc_id for hit in code}


def test_an_endpoint_of_an_api_is_a_kind_of_its_own(tmp_path: Path) -> None:
    schemas = "components:\n  schemas:\n    Heron:\n      type: object\n      title: heron\n"
    text = LARAVEL["openapi.yaml"][1] + schemas
    (tmp_path / "openapi.yaml").write_text(text, encoding="utf-8")
    with Engine.open(tmp_path, config=FAKE) as engine:
        engine.sync()
        chunks = engine.retrieve("heron", source_types=["api_endpoint"], min_score=0).chunks
        assert [(chunk.kind, chunk.symbol) for chunk in chunks] == [
            ("api_endpoint", "GET /heron")
        ]
        chunks = engine.retrieve("heron", source_types=["openapi"], min_score=0).chunks
        assert {chunk.kind for chunk in chunks} == {"api_endpoint", "openapi"}
        assert engine.search("heron", filters={"kind": "api_endpoint"})
        manifest = engine.search("heron", filters={"kind": "manifest"})
        assert manifest == []


def test_an_index_of_an_earlier_version_gets_kinds_without_new_vectors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path)
    with monkeypatch.context() as earlier:
        earlier.setattr("ragstone.indexing.collection_writer.READERS_VERSION", "read/1")
        earlier.setattr(document_kinds, "_load_rules", lambda: ())
        with Engine.open(tmp_path, config=FAKE) as engine:
            engine.sync()
            assert "controller" not in {document.kind for document in engine.sources()}
    with Engine.open(tmp_path, config=FAKE) as engine:
        report = engine.sync()
        assert "controller" in {document.kind for document in engine.sources()}
        assert (report.embedded, report.chunks_added) == (0, 0)


def test_a_plug_in_that_fails_leaves_the_kind_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class BrokenRules:
        def kind_of(self, uri: str, language: str, head: str) -> str:
            raise ValueError(uri)

    class OddRules:
        def kind_of(self, uri: str, language: str, head: str) -> str:
            return "nonsense"

    monkeypatch.setattr(document_kinds, "_load_rules", lambda: (BrokenRules(), OddRules()))
    assert kind_of("app/Models/Song.php", "<?php\nclass Song extends Model {}\n") == "code"
