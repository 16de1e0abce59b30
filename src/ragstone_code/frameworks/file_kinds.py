"""The kinds of files that frameworks have by convention: by the path, and by a cue in the text.

A path alone is no proof: a folder `events` may hold anything. So most rules also ask for a line that only such a file
has, such as a class of the right name or a base class of the framework. The first rule that fits decides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

_SCRIPTS: Final = ("javascript", "typescript")
_ANY: Final[tuple[str, ...]] = ()


@dataclass(frozen=True, slots=True)
class FileRule:
    """A kind, the languages and paths of its files, and a cue that their text has."""

    kind: str
    languages: tuple[str, ...]
    path: re.Pattern[str]
    cue: re.Pattern[str] | None = None

    def fits(self, path: str, language: str, head: str) -> bool:
        """Return whether a file is of this kind; the path is in lower case."""
        if self.languages and language not in self.languages:
            return False
        if self.path.search(path) is None:
            return False
        return self.cue is None or self.cue.search(head) is not None


def _rule(kind: str, languages: tuple[str, ...], path: str, cue: str = "") -> FileRule:
    compiled_cue = re.compile(cue, re.MULTILINE) if cue else None
    return FileRule(kind, languages, re.compile(path), compiled_cue)


def _php_class(kind: str, folder: str) -> FileRule:
    """Return the rule for a folder of PHP classes."""
    return _rule(
        kind,
        ("php",),
        rf"(?:^|/){folder}/",
        r"^\s*(?:final |abstract |readonly )*class \w*\b",
    )


def _script_role(kind: str, folder: str, word: str) -> FileRule:
    """Return the rule for a folder of JavaScript modules whose name, class or function has the word of the role."""
    path = rf"(?:^|/){folder}/[^/]|[.-]{word}\.(?:[cm]?[jt]s|[jt]sx)$"
    cue = r"^\s*(?:export |module\.exports|exports\.|const |async )*(?:class|function|const|default|module\.exports|exports)"
    return _rule(kind, _SCRIPTS, path, cue)


_TESTS: Final = (
    _rule(
        "test",
        ("python",),
        r"(?:^|/)(?:test_[^/]*|[^/]*_test|conftest|tests)\.py$|(?:^|/)tests?/(?:.*/)?[^/]*test[^/]*\.py$",
    ),
    _rule("test", ("php",), r"(?:^|/)tests?/|test\.php$", r"class \w+|\b(?:it|test|uses)\("),
    _rule("test", _SCRIPTS, r"\.(?:test|spec|cy)\.[cm]?[jt]sx?$|(?:^|/)__tests__/"),
    _rule("test", ("go",), r"_test\.go$"),
    _rule("test", ("ruby",), r"_(?:spec|test)\.rb$"),
    _rule("test", ("java", "kotlin", "scala"), r"(?:^|/)src/test/|tests?\.(?:java|kt|scala)$"),
    _rule("test", ("csharp", "swift"), r"tests?\.(?:cs|swift)$"),
)
_LARAVEL: Final = (
    _rule("view", _ANY, r"\.blade\.php$"),
    _rule("migration", ("php",), r"(?:^|/)migrations/[^/]+\.php$", r"extends Migration\b"),
    _rule("route", ("php",), r"(?:^|/)routes/.+\.php$", r"\bRoute::|\$router->"),
    _rule("request", ("php",), r"\.php$", r"class \w+ extends (?:\w*FormRequest|\w+Request)\b"),
    _php_class("request", "http/requests"),
    _rule(
        "resource",
        ("php",),
        r"\.php$",
        r"class \w+ extends (?:\w*JsonResource|ResourceCollection)\b",
    ),
    _php_class("resource", "http/resources"),
    _php_class("middleware", "(?:http/)?middlewares?"),
    _rule(
        "controller",
        ("php",),
        r"controller\.php$|(?:^|/)http/controllers/",
        r"class \w*Controller\b|class \w+ extends \w*Controller\b",
    ),
    _php_class("controller", "http/controllers"),
    _php_class("policy", "policies"),
    _php_class("listener", "listeners"),
    _php_class("event", "events"),
    _php_class("job", "jobs"),
    _rule(
        "model",
        ("php",),
        r"\.php$",
        r"class \w+ extends (?:Model|Authenticatable|Pivot|MorphPivot|BaseModel|\\Illuminate\\Database\\Eloquent\\Model)\b",
    ),
    _php_class("model", "app/models"),
    _php_class("service", "services"),
    _rule("service", ("php",), r"service\.php$", r"class \w+Service\b"),
)
_PYTHON: Final = (
    _rule(
        "migration", ("python",), r"(?:^|/)migrations/\d+_\w+\.py$", r"migrations\.Migration\b"
    ),
    _rule("migration", ("python",), r"(?:^|/)versions/[^/]+\.py$", r"^def upgrade\("),
    _rule("route", ("python",), r"(?:^|/)urls(?:/[^/]+)?\.py$", r"^urlpatterns\b|\bpath\("),
    _rule(
        "route",
        ("python",),
        r"\.py$",
        r"^@\w+(?:\.\w+)?\.(?:get|post|put|patch|delete|route|websocket|api_route)\(\s*[rf]?[\"']/",
    ),
    _rule(
        "controller",
        ("python",),
        r"(?:^|/)(?:views|viewsets)(?:/[^/]+)?\.py$",
        r"\brequest\b|View\b|ViewSet\b",
    ),
    _rule(
        "middleware",
        ("python",),
        r"middlewares?(?:/[^/]+)?\.py$",
        r"class \w*Middleware\b|def \w*middleware\w*\(",
    ),
    _rule(
        "resource", ("python",), r"(?:^|/)serializers(?:/[^/]+)?\.py$", r"class \w*Serializer\b"
    ),
    _rule("request", ("python",), r"(?:^|/)forms(?:/[^/]+)?\.py$", r"class \w*Form\b"),
    _rule(
        "policy",
        ("python",),
        r"(?:^|/)(?:permissions|policies)(?:/[^/]+)?\.py$",
        r"class \w+\(\w*(?:Permission|Policy)\w*",
    ),
    _rule(
        "listener",
        ("python",),
        r"(?:^|/)(?:receivers|listeners|handlers|signals)(?:/[^/]+)?\.py$",
        r"^\s*@receiver\(|\.connect\(",
    ),
    _rule(
        "event",
        ("python",),
        r"(?:^|/)(?:signals|events)(?:/[^/]+)?\.py$",
        r"= Signal\(|class \w+Event\b",
    ),
    _rule(
        "job",
        ("python",),
        r"\.py$",
        r"^@(?:shared_task|\w+\.task|dramatiq\.actor|job|\w+\.job)\b",
    ),
    _rule(
        "model",
        ("python",),
        r"(?:^|/)\w*models?(?:/[^/]+)?\.py$",
        r"class \w+\([^)]*(?:\bModel\b|models\.Model|\bBase\b|DeclarativeBase|SQLModel|AbstractUser|AbstractBaseUser)",
    ),
    _rule(
        "config",
        ("python",),
        r"(?:^|/)settings(?:/[^/]+)?\.py$",
        r"^(?:INSTALLED_APPS|DATABASES|SECRET_KEY|MIDDLEWARE)\b",
    ),
    _rule(
        "service",
        ("python",),
        r"(?:^|/)services?(?:/[^/]+)?\.py$|_service\.py$",
        r"^(?:class|def|async def) ",
    ),
)
_SCRIPT: Final = (
    _rule(
        "migration",
        _SCRIPTS,
        r"(?:^|/)migrations/[^/]+\.[cm]?[jt]s$",
        r"\b(?:up|down)\b\s*[(:=]",
    ),
    _rule(
        "route",
        _SCRIPTS,
        r"(?:^|/)routes?/|(?:^|/)routes?\.[cm]?[jt]s$|\.routes?\.[cm]?[jt]s$",
        r"\b(?:router|app|fastify|server)\.(?:get|post|put|patch|delete|use|route|all)\(|\bRouter\(",
    ),
    _script_role("controller", "controllers?", "controller"),
    _script_role("middleware", "middlewares?", "middleware"),
    _script_role("request", "dtos?", "dto"),
    _script_role("policy", "(?:policies|guards)", "(?:policy|guard)"),
    _script_role("listener", "listeners", "listener"),
    _rule("event", _SCRIPTS, r"\.event\.[cm]?[jt]s$|(?:^|/)events/[^/]", r"class \w+Event\b"),
    _rule(
        "job",
        _SCRIPTS,
        r"(?:^|/)jobs/[^/]|\.(?:job|processor)\.[cm]?[jt]s$",
        r"\b(?:class|function|module\.exports|export default)\b",
    ),
    _rule(
        "model",
        _SCRIPTS,
        r"(?:^|/)(?:models|entities)/|\.(?:model|entity)\.[cm]?[jt]s$",
        r"@Entity\(|mongoose|Schema\(|sequelize|extends Model\b|\.define\(",
    ),
    _rule(
        "resource",
        _SCRIPTS,
        r"(?:^|/)serializers/|\.serializer\.[cm]?[jt]s$",
        r"class |function ",
    ),
    _rule(
        "service",
        _SCRIPTS,
        r"\.service\.[cm]?[jt]s$|(?:^|/)services/[^/]",
        r"\b(?:class|function|const)\b",
    ),
)
_RAILS: Final = (
    _rule("migration", ("ruby",), r"(?:^|/)db/migrate/"),
    _rule("route", ("ruby",), r"(?:^|/)config/routes(?:/.+)?\.rb$"),
    _rule("controller", ("ruby",), r"(?:^|/)app/controllers/"),
    _rule("model", ("ruby",), r"(?:^|/)app/models/"),
    _rule("job", ("ruby",), r"(?:^|/)app/(?:jobs|workers)/"),
    _rule("policy", ("ruby",), r"(?:^|/)app/policies/"),
    _rule("service", ("ruby",), r"(?:^|/)app/services/"),
    _rule("resource", ("ruby",), r"(?:^|/)app/serializers/"),
)
_VIEWS: Final = (
    _rule("view", _ANY, r"\.(?:ejs|hbs|twig|erb|jinja2?|j2|pug|mustache)$"),
    _rule("view", ("html", "text"), r"(?:^|/)(?:templates|views)/.+\.html?$", r"\{%|\{\{"),
)
_RULES: Final = (*_TESTS, *_LARAVEL, *_PYTHON, *_SCRIPT, *_RAILS, *_VIEWS)


def is_test_file(uri: str, language: str) -> bool:
    """Return whether a file of code holds tests, by its path."""
    path = uri.lower()
    return any(
        language in rule.languages and rule.path.search(path) is not None for rule in _TESTS
    )


@dataclass(frozen=True, slots=True)
class FileKinds:
    """The rules for the files of Laravel, Django, FastAPI, Flask, Express, Nest and Rails, and for tests."""

    rules: tuple[FileRule, ...] = field(default=_RULES)

    def kind_of(self, uri: str, language: str, head: str) -> str:
        """Return the kind of a file by its path, its language and the start of its text; empty if no rule fits."""
        path = uri.lower()
        for rule in self.rules:
            if rule.fits(path, language, head):
                return rule.kind
        return ""
