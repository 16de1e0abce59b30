"""Secrets in texts: found by kind and line, redacted without moving a line, and never repeated in remarks."""

from __future__ import annotations

import ast
import base64
import random
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.sources.secrets.redaction import FoundSecret, redact, redact_document, scan
from ragstone.types import Document, Mark

GITHUB = "ghp_" + "aB3dE5fG7h" * 3 + "K9mN2p"
AWS = "AKIA" + "Q7RZ2LMN4TX6VWKB"
PASSWORD = "Tr0ub4dor&3x"


def key_lines(seed: int = 1) -> list[str]:
    body = base64.b64encode(random.Random(seed).randbytes(600)).decode()
    return [body[at : at + 64] for at in range(0, len(body), 64)]


BLOCK = "\n".join(
    ["-----BEGIN RSA PRIVATE KEY-----", *key_lines(), "-----END RSA PRIVATE KEY-----"]
)


# ── finding ─────────────────────────────────────────────────────────────────────────────────


def test_a_secret_is_found_with_its_kind_its_place_and_its_line() -> None:
    text = f"one\ntwo é = 1\nkey = {AWS}\n"
    [secret] = scan(text)
    assert secret == FoundSecret("aws-key", text.index("AKIA"), text.index("AKIA") + 20, 3)


def test_the_rest_of_the_line_stays() -> None:
    text, secrets = redact(f"first\nexport TOKEN={GITHUB} # for CI\nlast\n")
    assert text == "first\nexport TOKEN=[SECRET:github-token] # for CI\nlast\n"
    assert [(secret.kind, secret.line) for secret in secrets] == [("github-token", 2)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (f'password = "{PASSWORD}"', "password"),
        (f"db_password: {PASSWORD}", "password"),
        (f"'password' => '{PASSWORD}',", "password"),
        (f'{{\\"password\\": \\"{PASSWORD}\\"}}', "password"),
        (f"<password>{PASSWORD}</password>", "password"),
        (f'<add key="Password" value="{PASSWORD}"/>', "password"),
        (f"mysql --password={PASSWORD} main", "password"),
        (f'network={{\n  psk="{PASSWORD}"\n}}', "password"),
        (f"bind_dn = cn=admin\nbind_pw = {PASSWORD}", "password"),
        ("bob:$apr1$x7Rt9kQ2$q8Zt1LmX02bVhsWc7RkPab", "password-hash"),
        (f"db.internal:5432:shop:app:{PASSWORD}", "password"),
        (f"<Password>\n  <Value>{PASSWORD}</Value>\n</Password>", "password"),
        ("snmp-server community q8Zt1LmX02 RO", "snmp-community"),
        ("username bob password 7 0822455D0A165445", "password"),
        (f"tool --password {PASSWORD} main", "password"),
        (f"Server=x;Password={PASSWORD};Timeout=3", "password"),
        (f'setenv("DB_PASSWORD", "{PASSWORD}")', "password"),
        ('apiKey: "9f3c1a7be2d84605a1c3"', "api-key"),
        ('client_secret = "q8Zt1LmX02bVhsWc7RkP"', "secret"),
        ("curl 'https://x.internal/?access_token=q8Zt1LmX02bVhsWc7RkP&n=1'", "token"),
        ("Authorization: Bearer q8Zt1LmX02bVhsWc7RkP", "bearer-token"),
        ("Authorization: Basic c3ZjOk9yY2hpZDg4IXg=", "basic-auth"),
        ("postgresql+psycopg://app:s3Kr1t-zz@db.internal/main", "postgres-url"),
        ("postgres://admin:S3cretPw99@db.internal:5432/prod", "postgres-url"),
        ("postgres://admin:correct-horse@db.internal:5432/prod", "postgres-url"),
        ("mysql://app:Dummy9xKq2w@db.internal/shop", "mysql-url"),
        ("mysql --password=Test9xKq2w main", "password"),
        ('password = "S3cretPw99"', "password"),
        ("redis://:s3Kr1t-zz@cache-1:6379/0", "redis-url"),
        ("https://deploy:s3Kr1t-zz@git.internal/x.git", "basic-auth-url"),
        ("odd://deploy:s3Kr1t-zz@git.internal/x", "url-password"),
        ("aws_secret_access_key = tN4vQ/8hZc+K2mWq7Lr0YxBd3JpGsE9uVaFo1Ti6", "aws-secret-key"),
        (f'"first\\n{GITHUB}\\nlast"', "github-token"),
        (f"OPENAI_API_KEY=sk-proj-FAKE1234567890{string.ascii_lowercase}ABCD", "openai-key"),
        ('password = "correct-horse-42!"', "password"),
        ("DB_PASSWORD=hunter2-seagull", "password"),
        ("Passwort: Xk29-vuTq!87", "password"),
        ("Kennwort = gT7!pqLm22zz", "password"),
        ("contraseña: gT7!pqLm22zz", "password"),
        ("mot de passe: gT7!pqLm22zz", "password"),
        ("the password is hunter2-seagull-99", "password"),
        (f'"first\\n{AWS}\\nlast"', "aws-key"),
    ],
)
def test_secrets_are_found_in_usual_places(text: str, kind: str) -> None:
    clean, secrets = redact(text)
    assert [secret.kind for secret in secrets] == [kind]
    assert f"[SECRET:{kind}]" in clean


@pytest.mark.parametrize(
    "text",
    [
        'password = "changeme"',
        "Passwort: vergessen",
        'password = "your-password-1"',
        'password = "${DB_PASSWORD}"',
        "password: <password>",
        "password = os.environ['DB_PASSWORD_2']",
        "password = getpass.getpass()",
        "token = self.next_token2(stream)",
        "token: Optional[str] = None",
        'api_key = "xxxxxxxxxxxxxxxx1234"',
        'token_type = "q8Zt1LmX02bVhsWc7RkP"',
        'primary_key = "q8Zt1LmX02bVhsWc7RkP"',
        'cache_key = "q8Zt1LmX02bVhsWc7RkP"',
        'secret_name = "q8Zt1LmX02bVhsWc7RkP"',
        'key = "oauth2_access_token_v2"',
        'api_key = "path/to/file2.txt"',
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_" + "x" * 36,
        "sk-ant-api03-" + "x" * 95,
        "http://user:password@host/",
        "http://host:8080/a@b",
        "https://me:s3Kr1t-zz@example.com/",
        "postgres://postgres:postgres@localhost/x",
        "postgres://{user}:{password}@{host}/x",
        "postgres://app:s3cret@db.internal/x",
        "postgres://app:my-secret-1@db.internal/x",
        "postgres://app:test1234@db.internal/x",
        "postgres://app:replace-with-real-key@db.internal/x",
        "postgres://app:p4ssw0rd!@db.internal/x",
        'password = "Secret123!"',
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "123e4567-e89b-12d3-a456-426614174000",
        "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PUBLIC KEY-----\n" + key_lines()[0] + "\n-----END PUBLIC KEY-----",
        'if "-----BEGIN RSA PRIVATE KEY-----" in text:\n    return load(text)\n',
        "a sentence about tokens, secrets and the password that nobody knows",
    ],
)
def test_harmless_values_stay(text: str) -> None:
    assert redact(text) == (text, [])


def test_in_an_env_file_simple_values_of_secret_names_count_too() -> None:
    text = "DB_PASSWORD=mistralwind\nDB_HOST=mistralwind\nAPI_TOKEN=\n"
    assert scan(text, uri="notes.txt") == []
    for uri in (".env", "deploy/.env.local", "prod.env", ".envrc", "a/app.env.example"):
        assert [(secret.kind, secret.line) for secret in scan(text, uri=uri)] == [
            ("password", 1)
        ]


# ── key blocks ────────────────────────────────────────────────────────────────────────────────────


def test_a_key_block_goes_and_its_lines_stay() -> None:
    text, secrets = redact(f"before\n{BLOCK}\nafter\n")
    lines = text.split("\n")
    assert [(secret.kind, secret.line) for secret in secrets] == [("private-key", 3)]
    assert lines[1:3] == ["-----BEGIN RSA PRIVATE KEY-----", "[SECRET:private-key]"]
    assert lines.index("after") == f"before\n{BLOCK}\nafter\n".split("\n").index("after")
    assert not any(line in text for line in key_lines())


def test_a_key_in_source_code_leaves_source_code() -> None:
    quoted = "\n".join(f'    "{line}\\n"' for line in BLOCK.split("\n"))
    source = f"KEY = (\n{quoted}\n)\n\n\ndef after() -> int:\n    return 1\n"
    text, _ = redact(source)
    assert ast.parse(text).body[1].lineno == ast.parse(source).body[1].lineno
    assert not any(line in text for line in key_lines())


@pytest.mark.parametrize(
    "broken", [BLOCK.rpartition("\n")[0], BLOCK[:-400]], ids=["no end", "cut off"]
)
def test_a_key_that_is_broken_off_goes_too(broken: str) -> None:
    text, secrets = redact(f"{broken}\n\nSome words after it.\n")
    assert [secret.kind for secret in secrets] == ["private-key"]
    assert "Some words after it." in text
    assert not any(line in text for line in key_lines())


def test_a_key_on_one_line_goes_and_the_line_stays() -> None:
    line = BLOCK.replace("\n", "\\n")
    text, _ = redact(f'{{"private_key": "{line}", "client_email": "me@x.internal"}}')
    assert text.endswith('"client_email": "me@x.internal"}')
    assert not any(line in text for line in key_lines())


# ── promises for every text ───────────────────────────────────────────────────────────────────────

bits = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        [
            GITHUB,
            AWS,
            BLOCK,
            f'password="{PASSWORD}"',
            "postgres://a:s3Kr1t-zz@h/x",
            "token: ",
            "é\u2028",
            "\r\n",
        ]
    ),
    st.text(string.ascii_letters + string.digits + "_-=:\"'\\n/@ ", max_size=60),
)
texts = st.lists(bits, max_size=8).map("".join)


@settings(max_examples=150, deadline=None)
@given(texts)
def test_places_are_in_order_and_lines_are_kept(text: str) -> None:
    clean, secrets = redact(text)
    assert clean.count("\n") == text.count("\n")
    assert all(secret.start < secret.end <= len(text) for secret in secrets)
    assert all(
        secret.end <= other.start for secret, other in zip(secrets, secrets[1:], strict=False)
    )
    assert [secret.line for secret in secrets] == [
        text.count("\n", 0, secret.start) + 1 for secret in secrets
    ]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "x = 1",
                f"a {GITHUB}",
                f'password = "{PASSWORD}"',
                BLOCK,
                f"k {AWS} é",
                f"token:{GITHUB}:0{GITHUB}",
                "TOKEN:redis://a:s3Kr1t-zz@h/xTOKEN:00q8Zt1LmX02bVhs",
            ]
        ),
        max_size=6,
    )
)
def test_a_text_without_its_secrets_has_none(lines: list[str]) -> None:
    clean, _ = redact("\n".join(lines))
    assert redact(clean) == (clean, [])


def test_a_placeholder_is_not_a_secret() -> None:
    text = f"[SECRET:github-token]: 0{GITHUB}"
    assert redact(text) == (text, [])


# ── documents ─────────────────────────────────────────────────────────────────────────────────────


def test_every_stored_part_of_a_document_is_redacted() -> None:
    document = Document(
        "notes/a",
        f"see {GITHUB}",
        title=f"about {AWS}",
        metadata={"password": PASSWORD, "tags": ["a", GITHUB], "n": 3, AWS: True, "by": "ada"},
        beside=f"before: {AWS}",
    )
    clean = redact_document(document)
    assert clean.text == "see [SECRET:github-token]"
    assert clean.title == "about [SECRET:aws-key]"
    assert clean.beside == "before: [SECRET:aws-key]"
    assert clean.metadata == {
        "password": "[SECRET:password]",
        "tags": ["a", "[SECRET:github-token]"],
        "n": 3,
        "[SECRET:aws-key]": True,
        "by": "ada",
    }
    [remark] = clean.remarks
    assert remark.startswith(
        "6 secrets taken out: github-token (line 1), aws-key (title), aws-key (beside)"
    )
    assert not any(secret in repr(clean) for secret in (GITHUB, AWS, PASSWORD))


def test_a_document_redact_document_is_the_same_document() -> None:
    document = Document(
        "a.md", "# A\n\nwords\n", metadata={"by": "ada", "tags": ("x",)}, remarks=("read",)
    )
    assert redact_document(document) is document


def test_many_secrets_make_a_short_remark() -> None:
    [remark] = redact_document(Document("a", "\n".join([f"t {GITHUB}"] * 40))).remarks
    assert remark.startswith("40 secrets taken out: github-token (line 1), ")
    assert remark.endswith(" and 28 more")


def test_pages_start_at_the_same_text_after_redaction() -> None:
    first, second, third = f"é page one {GITHUB}\n", f"page two\n{BLOCK}\n", "page three"
    starts = [0, len(first), len(first) + 60, len(first) + len(second)]
    marks = tuple(Mark(start, number) for number, start in enumerate(starts, start=1))
    clean = redact_document(Document("a.pdf", first + second + third, marks=marks))
    places = [mark.start for mark in clean.marks]
    assert clean.text[places[1] :].startswith("page two")
    assert clean.text[places[3] :].startswith("page three")
    assert places[1] < places[2] <= places[3]
    assert clean.text[: places[2]].endswith(
        "[SECRET:private-key]" + "\n" * (len(key_lines()) - 1)
    )
