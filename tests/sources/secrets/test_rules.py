"""The rules: many kinds, each expression bounded, no text that makes them slow, and a name that changes with them."""

from __future__ import annotations

import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

import ragstone
from ragstone.sources.secrets import rules as secret_rules
from ragstone.sources.secrets.redaction import redact
from ragstone.sources.secrets.rules import SecretRule, load_rules

GENERIC = {
    "password",
    "secret",
    "token",
    "api-key",
    "bearer-token",
    "basic-auth",
    "url-password",
    "private-key",
}


def every_rule() -> list[SecretRule]:
    rules = load_rules()
    every = [*rules.anywhere]
    for group in (*rules.by_prefix.values(), *rules.by_part.values()):
        every += group
    return every + [rule for _, rule in (*rules.near_words, *rules.urls)]


def test_there_are_rules_for_more_than_sixty_kinds() -> None:
    kinds = {rule.kind for rule in every_rule()} | {*load_rules().schemes.values()}
    assert len(kinds) >= 60
    assert not kinds & GENERIC
    assert all(re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", kind) for kind in kinds)


def test_every_repetition_has_an_upper_bound() -> None:
    for rule in every_rule():
        bare = re.sub(r"\\.|\[(?:\\.|[^\]])*\]", "c", rule.expression)
        assert not re.search(r"[*+]|\{\d*,\}", bare), rule
        assert rule.pattern.groups == len(rule.pattern.groupindex), rule


def test_no_rule_takes_a_line_end_but_one_that_spans_lines() -> None:
    for rule in every_rule():
        if rule.kind != "putty-key":
            assert "\\n" not in rule.expression.replace("\\\\n", ""), rule


def test_a_putty_key_goes_line_by_line() -> None:
    lines = ["AAABAQCq3Xw1" + "Zk9" * 17 + "b", "tG7hJ2kL5" * 3]
    text = (
        "PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 2\n"
        + "\n".join(lines)
        + "\nPrivate-MAC: x\n"
    )
    clean, secrets = redact(text)
    assert [secret.kind for secret in secrets] == ["putty-key"]
    assert (
        clean
        == "PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 2\n[SECRET:putty-key]\n\nPrivate-MAC: x\n"
    )


def test_the_recipe_changes_with_the_rules(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = secret_rules.recipe()
    changed = tmp_path / "secrets.toml"
    changed.write_text(
        secret_rules.RULES_FILE.read_text("utf-8").replace("{36,255}", "{30,255}"), "utf-8"
    )
    monkeypatch.setattr(secret_rules, "RULES_FILE", changed)
    for cached in (secret_rules.recipe, secret_rules.rules_text):
        cached.cache_clear()
    try:
        assert secret_rules.recipe() != before
    finally:
        monkeypatch.undo()
        for cached in (secret_rules.recipe, secret_rules.rules_text):
            cached.cache_clear()
    assert secret_rules.recipe() == before


def test_letters_of_other_scripts_move_nothing() -> None:
    text = "".join(
        chr(code) for code in range(0x20, 0x3000) if unicodedata.category(chr(code))[0] in "LNS"
    )
    token = "ghp_" + "aB3dE5fG7h" * 3 + "K9mN2p"
    clean, secrets = redact(f"{text} {token} İ {token} 𝔘")
    assert clean == f"{text} [SECRET:github-token] İ [SECRET:github-token] 𝔘"
    assert len(secrets) == 2


# ── texts made to be slow ─────────────────────────────────────────────────────────────────────────

SIZE = 40_000
SECONDS = 1
"""Of CPU, for a text that takes about a hundredth of that; with work that grows by the square it would take many times
as much. What would take forever is ended by the system."""
HOSTILE = """
import resource, sys, time
resource.setrlimit(resource.RLIMIT_CPU, ({seconds} * 40, {seconds} * 40))
sys.path.insert(0, sys.argv[1])
from ragstone.sources.secrets import redaction as secrets
from ragstone.sources.secrets.rules import load_rules

def scan(piece):
    text = (piece * ({size} // len(piece) + 1))[:{size}]
    begun = time.process_time()
    secrets.scan(text)
    if time.process_time() - begun > {seconds}:
        raise SystemExit("slow: " + ascii(piece))

known = {{}}
for clue, many in {{**load_rules().by_prefix, **load_rules().by_part}}.items():
    for rule in many:
        known.setdefault((rule.kind, rule.expression[-40:]), clue.decode())
for clue in known.values():
    for shape in ("", "a0b1c2d3e4", "a0b1c2d3e4f5a6b7c8d9.", "a0b1c2d3e4f5a6b7c8d9-", "aB0" * 700 + " ", "aB0" * 40000):
        scan(clue + shape)
begin = "-----BEGIN PRIVATE KEY-----"
pieces = [
    "key", "key=", 'key = "', 'password="a1', " token", "secret" + "a" * 30, "key" + "_" * 29 + "\\"]'", "pwd=",
    "://a:", "://a:b@", "://" + "a" * 120 + ":", "://:" + "b" * 250, begin, begin + "\\n", begin + "\\\\nabc",
    begin + "\\n" + ("A1b2" * 16 + "\\n") * 20, "BEGIN A B C PRIVATE KEY----", "Private-Lines: 5\\n", "AKIA", "hf_",
    "Private-Lines: 5\\n" + "A" * 30 + "\\n", "authorization: bearer ", "authorization: basic " + "a1" * 100,
    "0123456789", "a0-", "aws 0a1b2c3d4e5f6g7h8i9j0a1b2c3d4e5f6g7h8i9j ", "://hooks.slack.com/services/a",
    "://x.blob.core.windows.net/&sig=", "password=\\u00e91\\u00e92 ", "\\\\n", "-", "=", '"', "=-" * 20 + "!",
    "password='" + "-." * 100 + "!' ",
]
for piece in pieces:
    scan(piece)
print("done", len(known))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="CPU time cannot be limited there")
def test_no_text_is_slow_to_look_at() -> None:
    source = str(Path(ragstone.__file__).parents[1])
    ran = subprocess.run(
        [sys.executable, "-c", HOSTILE.format(seconds=SECONDS, size=SIZE), source],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout.startswith("done"), (
        ran.stderr[-500:] or f"stopped by signal {-ran.returncode}"
    )
    assert int(ran.stdout.split()[1]) > 90
