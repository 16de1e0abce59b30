"""Secrets that nobody owns, made up in the formats that providers document, in the places where people leave them."""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable, Iterator
from typing import NamedTuple

SEED = 20
LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
WORD = string.ascii_letters + DIGITS
SAFE = WORD + "-_"
HEX = "0123456789abcdef"
BASE32 = UPPER + "234567"
BECH32 = "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"

Make = Callable[[random.Random], str]


class Planted(NamedTuple):
    """A text with a secret in it: the kind of secret, the secret itself, and the text."""

    kind: str
    secret: str
    text: str


class Kind(NamedTuple):
    """How secrets of a kind are made, and what the setting that holds one is called; no name: it may be any."""

    make: Make
    name: str = ""


def some(luck: random.Random, alphabet: str, least: int, most: int = 0) -> str:
    """Return so many characters drawn at random."""
    return "".join(luck.choices(alphabet, k=luck.randint(least, most or least)))


def after(start: str, alphabet: str, least: int, most: int = 0) -> Make:
    """Return a maker of texts that start in one way and go on at random."""
    return lambda luck: start + some(luck, alphabet, least, most)


def uuid(luck: random.Random) -> str:
    """Return a random UUID."""
    return "-".join(some(luck, HEX, size) for size in (8, 4, 4, 4, 12))


def parts(luck: random.Random, pattern: str) -> str:
    """Return a text in which `{h32}` is 32 hexadecimal digits, w letters and digits, s `-` and `_` too, d digits."""
    alphabets = {
        "h": HEX,
        "w": WORD,
        "s": SAFE,
        "d": DIGITS,
        "u": UPPER + DIGITS,
        "l": LOWER + DIGITS,
        "b": BASE32,
    }
    made = pattern.split("{")
    return made[0] + "".join(
        some(luck, alphabets[piece[0]], int(piece[1 : piece.index("}")]))
        + piece[piece.index("}") + 1 :]
        for piece in made[1:]
    )


def like(*patterns: str) -> Make:
    """Return a maker of texts like one of the patterns."""
    return lambda luck: parts(luck, luck.choice(patterns))


def jwt(luck: random.Random) -> str:
    """Return a signed token of random claims."""
    head = {"alg": luck.choice(["HS256", "RS256", "ES256"]), "typ": "JWT"}
    claims = {
        "sub": some(luck, DIGITS, 10),
        "iss": "https://login.internal",
        "exp": luck.randint(10**9, 2 * 10**9),
    }
    coded = [
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
        for part in (head, claims)
    ]
    return ".".join([*coded, some(luck, SAFE, 43)])


def discord(luck: random.Random) -> str:
    """Return a bot's token: its number, a time, a signature."""
    number = (
        base64.urlsafe_b64encode(str(luck.randint(10**17, 10**18)).encode())
        .decode()
        .rstrip("=")
    )
    return f"{number}.{some(luck, SAFE, 6)}.{some(luck, SAFE, 38)}"


def pypi(luck: random.Random) -> str:
    """Return an upload token: a macaroon that begins with the host's name."""
    body = b"\x02\x01\x08pypi.org\x02\x24" + luck.randbytes(120)
    return "pypi-" + base64.urlsafe_b64encode(body).decode().rstrip("=")


def based(size: int) -> Make:
    """Return a maker of so many random bytes in base 64."""
    return lambda luck: base64.b64encode(luck.randbytes(size)).decode()


def password(luck: random.Random) -> str:
    """Return a password as people and their programs make them."""
    ways: list[Make] = [
        lambda luck: some(luck, WORD + "!@#%^*-_+", 12, 24),
        lambda luck: (
            luck.choice(["Winter", "Berlin", "Falcon", "Orchid"])
            + some(luck, DIGITS, 2, 4)
            + luck.choice("!#*")
        ),
        lambda luck: (
            some(luck, LOWER, 4)
            + some(luck, DIGITS, 2)
            + some(luck, LOWER, 3)
            + some(luck, UPPER, 2)
        ),
        lambda luck: some(luck, HEX, 24),
    ]
    made = luck.choice(ways)(luck)
    return made if any(c.isdigit() for c in made) else made + some(luck, DIGITS, 2)


def key_block(what: str, least: int, most: int) -> Make:
    """Return a maker of key blocks with bodies of so many bytes."""

    def make(luck: random.Random) -> str:
        body = base64.b64encode(luck.randbytes(luck.randint(least, most))).decode()
        lines = [body[at : at + 64] for at in range(0, len(body), 64)]
        return "\n".join([f"-----BEGIN {what}-----", *lines, f"-----END {what}-----"])

    return make


def login(*schemes: str) -> Make:
    """Return a maker of addresses with a password in them; the secret is that password, behind a space."""

    def make(luck: random.Random) -> str:
        code = some(luck, WORD + "-_.", 10, 20) + some(luck, DIGITS, 1)
        user, host = (
            luck.choice(["app", "svc", "root", "deploy"]),
            luck.choice(["db.internal", "10.2.0.7", "cache-1"]),
        )
        return f"{luck.choice(schemes)}://{user}:{code}@{host}:{luck.randint(1025, 9999)}/main {code}"

    return make


KINDS: dict[str, Kind] = {
    "aws access key": Kind(like("AKIA{b16}", "ASIA{b16}")),
    "aws secret key": Kind(lambda luck: some(luck, WORD + "/+", 40), "AWS_SECRET_ACCESS_KEY"),
    "aws session token": Kind(
        lambda luck: "IQoJb3JpZ2luX2Vj" + base64.b64encode(luck.randbytes(240)).decode()
    ),
    "google api key": Kind(after("AIza", SAFE, 35)),
    "google oauth token": Kind(after("ya29.a0", SAFE, 120, 180)),
    "google client secret": Kind(after("GOCSPX-", SAFE, 28)),
    "azure storage key": Kind(based(64), "AccountKey"),
    "azure service bus key": Kind(based(32), "SharedAccessKey"),
    "azure client secret": Kind(like("{w3}8Q~{s34}", "{w3}7Q~{s31}")),
    "github token": Kind(like("ghp_{w36}", "gho_{w36}", "ghu_{w36}", "ghs_{w36}", "ghr_{w36}")),
    "github fine-grained": Kind(like("github_pat_{u22}_{w59}")),
    "gitlab token": Kind(like("glpat-{s20}", "glrt-{s20}", "gldt-{s20}", "glptt-{h40}")),
    "slack token": Kind(
        like(
            "xoxb-{d12}-{d13}-{w24}", "xoxp-{d12}-{d12}-{d13}-{h32}", "xapp-1-{u11}-{d13}-{h64}"
        )
    ),
    "slack webhook": Kind(
        lambda luck: "https://hooks.slack.com/services/" + parts(luck, "T{u10}/B{u10}/{w24}")
    ),
    "discord webhook": Kind(
        lambda luck: "https://discord.com/api/webhooks/" + parts(luck, "{d18}/{s68}")
    ),
    "stripe key": Kind(like("sk_live_{w24}", "rk_live_{w99}", "sk_test_{w99}")),
    "stripe webhook": Kind(after("whsec_", WORD, 32)),
    "twilio key": Kind(like("SK{h32}")),
    "twilio token": Kind(after("", HEX, 32), "TWILIO_AUTH_TOKEN"),
    "sendgrid": Kind(like("SG.{s22}.{s43}")),
    "mailgun": Kind(like("key-{h32}")),
    "mailchimp": Kind(like("{h32}-us{d2}")),
    "npm": Kind(after("npm_", WORD, 36)),
    "pypi": Kind(pypi),
    "rubygems": Kind(after("rubygems_", HEX, 48)),
    "docker hub": Kind(after("dckr_pat_", SAFE, 27)),
    "hugging face": Kind(after("hf_", string.ascii_letters, 34)),
    "openai": Kind(
        like(
            "sk-{w20}T3BlbkFJ{w20}",
            "sk-proj-{s74}T3BlbkFJ{s74}",
            "sk-svcacct-{s58}T3BlbkFJ{s58}",
        )
    ),
    "anthropic": Kind(like("sk-ant-api03-{s93}AA", "sk-ant-admin01-{s93}AA")),
    "cohere": Kind(after("", WORD, 40), "COHERE_API_KEY"),
    "groq": Kind(after("gsk_", WORD, 52)),
    "replicate": Kind(after("r8_", WORD, 37)),
    "discord bot": Kind(discord),
    "telegram bot": Kind(like("{d10}:AA{s33}")),
    "shopify": Kind(like("shpat_{h32}", "shpss_{h32}", "shpca_{h32}")),
    "square": Kind(like("sq0atp-{s22}", "sq0csp-{s43}", "EAAA{s60}")),
    "braintree": Kind(like("access_token$production${l16}${h32}")),
    "paypal": Kind(like("E{s79}"), "PAYPAL_CLIENT_SECRET"),
    "digitalocean": Kind(like("dop_v1_{h64}", "doo_v1_{h64}")),
    "heroku": Kind(uuid, "HEROKU_API_KEY"),
    "linear": Kind(after("lin_api_", WORD, 40)),
    "notion": Kind(like("secret_{w43}", "ntn_{d11}{w35}")),
    "figma": Kind(after("figd_", SAFE, 40)),
    "atlassian": Kind(like("ATATT3xFfGF0{s171}={h8}")),
    "bitbucket": Kind(after("ATBB", WORD, 32)),
    "datadog": Kind(like("{h32}", "{h40}"), "DATADOG_API_KEY"),
    "new relic": Kind(like("NRAK-{u27}", "{h36}NRAL")),
    "sentry": Kind(after("sntryu_", HEX, 64)),
    "grafana": Kind(like("glsa_{w32}_{h8}")),
    "vault": Kind(like("hvs.CAESI{s90}", "hvs.{w24}")),
    "databricks": Kind(after("dapi", HEX, 32)),
    "supabase": Kind(after("sbp_", HEX, 40)),
    "cloudflare": Kind(after("", SAFE, 40), "CLOUDFLARE_API_TOKEN"),
    "fastly": Kind(after("", SAFE, 32), "FASTLY_API_TOKEN"),
    "algolia": Kind(after("", HEX, 32), "ALGOLIA_ADMIN_KEY"),
    "firebase": Kind(like("AAAA{s7}:APA91b{s134}")),
    "jwt": Kind(jwt),
    "private key": Kind(key_block("RSA PRIVATE KEY", 600, 1200)),
    "private key, pkcs8": Kind(key_block("PRIVATE KEY", 48, 140)),
    "openssh key": Kind(key_block("OPENSSH PRIVATE KEY", 250, 1800)),
    "pgp key": Kind(key_block("PGP PRIVATE KEY BLOCK", 800, 2000)),
    "age key": Kind(after("AGE-SECRET-KEY-1", BECH32, 58)),
    "postgres": Kind(login("postgres", "postgresql", "postgresql+psycopg")),
    "mysql": Kind(login("mysql", "mysql+pymysql")),
    "mongodb": Kind(login("mongodb", "mongodb+srv")),
    "redis": Kind(login("redis", "rediss")),
    "amqp": Kind(login("amqp", "amqps")),
    "basic auth": Kind(login("https", "http")),
    "postman": Kind(like("PMAK-{h24}-{h34}")),
    "terraform": Kind(like("{w14}.atlasv1.{s67}")),
    "dynatrace": Kind(like("dt0c01.{b24}.{b64}")),
    "airtable": Kind(like("pat{w14}.{h64}")),
    "tailscale": Kind(like("tskey-auth-{w12}CNTRL-{w32}")),
    "password": Kind(password, "DB_PASSWORD"),
    "secret": Kind(after("", WORD, 24, 48), "APP_SECRET"),
    "token": Kind(after("", SAFE, 24, 64), "DEPLOY_TOKEN"),
    "api key": Kind(like("{h32}", "{w40}"), "API_KEY"),
}
"""Kinds by what a person calls them, not by our rules' names for them."""

NAMED = {
    ".py": [
        '{upper} = "{value}"',
        "{lower} = '{value}'",
        'client = Client({lower}="{value}", retries=3)',
    ],
    ".js": [
        'const {camel} = "{value}";',
        "  {camel}: '{value}',",
        "process.env.{upper} = `{value}`;",
    ],
    ".json": [
        '{{"name": "x", "{lower}": "{value}", "n": 1}}',
        '{{"body": "{{\\"{lower}\\": \\"{value}\\"}}"}}',
    ],
    ".yaml": [
        '{lower}: "{value}"',
        "env:\n  - name: {upper}\n    {upper}: {value}",
        "  {lower}: {value}",
    ],
    ".sh": [
        "export {upper}={value}",
        'export {upper}="{value}"',
        "docker run -e {upper}={value} image",
    ],
    ".ini": ["[main]\n{lower} = {value}", "{camel}={value};Timeout=30"],
    ".go": ['cfg := Config{{{camel}: "{value}", Region: "eu"}}', '{camel} := "{value}"'],
    ".md": ["Set `{upper}={value}` before you start.", "```\n{upper}={value}\n```"],
    ".txt": ["# {upper}={value}", "2026-01-02 12:00:00 INFO starting with {lower}={value}"],
    ".env.example": ["{upper}={value}", 'export {upper}="{value}"'],
}
BARE = {
    ".md": [
        "use {value} for now",
        "| key | {value} |",
        "curl -H 'X-Key: {value}' https://api.internal/v1",
    ],
    ".py": [
        'login("{value}")',
        "# old: {value}",
        '    return ["a", "{value}"]',
        'text = "first\\n{value}\\nlast"',
    ],
    ".txt": ["{value}", "the key is {value}, keep it", "Authorization: Bearer {value}"],
    ".xml": ["<setting>{value}</setting>", '<add name="x" value="{value}"/>'],
    ".json": ['["{value}"]', '{{"v": "{value}"}}'],
}


def planted(count: int = 1000, seed: int = SEED) -> Iterator[tuple[str, Planted]]:
    """Yield so many (suffix of a file, planted secret), every kind as often as any other."""
    luck = random.Random(seed)  # noqa: S311 - the same ones each time; nobody's secrets
    for number in range(count):
        name, kind = list(KINDS.items())[number % len(KINDS)]
        made = kind.make(luck)
        shown, _, secret = (
            made.partition(" ") if "://" in made and " " in made else (made, "", made)
        )
        suffix, line = _place(luck, kind, shown)
        text = f"{_filler(luck)}\n{line}\n{_filler(luck)}\n"
        yield suffix, Planted(name, secret, text)


def left(one: Planted, text: str) -> bool:
    """Return whether the secret, or a line of it, is still in a text."""
    lines = [line for line in one.secret.split("\n") if not line.startswith("-----")]
    return any(line in text for line in lines if len(line) >= 8)


def _place(luck: random.Random, kind: Kind, value: str) -> tuple[str, str]:
    places = NAMED if kind.name or luck.random() < 0.6 else BARE
    suffix = luck.choice(list(places))
    name = kind.name or luck.choice(
        ["SERVICE_KEY", "ACCESS_TOKEN", "BACKEND", "VALUE_2", "CREDENTIAL"]
    )
    if "\n" in value and suffix in (".json", ".sh", ".ini", ".env.example", ".go"):
        value = value.replace("\n", "\\n")
    words = name.lower().split("_")
    named = {
        "upper": name.upper(),
        "lower": name.lower(),
        "camel": words[0] + "".join(map(str.title, words[1:])),
    }
    if kind.name and "_" not in kind.name:
        named = dict.fromkeys(named, kind.name)
    return suffix, luck.choice(places[suffix]).format(value=value, **named)


def _filler(luck: random.Random) -> str:
    return " ".join(
        luck.choices(
            ["the", "value", "of", "retry", "settings", "is", "read", "once", "per", "call"],
            k=9,
        )
    )
