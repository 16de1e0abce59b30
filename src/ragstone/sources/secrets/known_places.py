"""Places that exist for secrets: options of commands, lines of well-known files, fields of connection strings.

The place shows that a value is a secret, so its shape need not: any value that is filled in counts. A value whose name
stands apart from it, as `name:` and `value:` of YAML do, must look like a secret too.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from ragstone.sources.secrets import value_shapes

_VALUE: Final = (
    rb"(?P<quote>[\"']?)(?P<secret>[^\s\"'`;|&<>]{4,200})(?P=quote)(?=[\s\"'`;|&<>,)]|$)"
)
_LOGIN: Final = rb"(?P<quote>[\"']?)[^\s\"'`:/]{1,80}:(?P<secret>[^\s\"'`|&<>@]{4,200})(?P=quote)(?=[\s\"'`;|&,)]|$)"
_ARGUMENTS: Final = rb"[^\n|;&]{0,200}?[ \t]"
_TWO_WORDS: Final = rb"[ \t]{1,4}(?:\S{1,100}[ \t]{1,4}){2}"
_CONNECTION: Final = (
    rb"(?:;|\b(?:server|host|data source|user id|uid|database|initial catalog)[ \t]{0,4}=[^;\n]{1,200};)"
    rb"[^\n]{0,300}?\b"
)
"""The fields of a connection string before its password."""
_FIELD_VALUE: Final = rb"[ \t]{0,4}=[ \t]{0,4}(?P<secret>[^;\s\"'`<>]{4,128})(?=[;\s\"'`<]|$)"


_MIXED: Final = (
    rb"[\"'`]?(?P<secret>(?=[^\s\"'`]{0,60}[0-9])(?=[^\s\"'`]{0,60}[A-Za-z])[^\s\"'`,;]{6,64}?)"
    rb"[\"'`]?(?=[.,;!]?(?:\s|$))"
)
"""A word of letters and digits, as in the sentence "the password is x7Rt9k"."""


class SecretPlace(NamedTuple):
    """A kind of secret, a text without which there is none, and the expression of the place."""

    kind: str
    clue: bytes
    pattern: re.Pattern[bytes]


def _place(kind: str, clue: bytes, expression: bytes) -> SecretPlace:
    return SecretPlace(kind, clue, re.compile(expression, re.IGNORECASE | re.MULTILINE))


_PLACES: Final = (
    _place("command-password", b"mysql", rb"\bmysql(?:dump|admin|import|sh)?" + _ARGUMENTS + rb"-p" + _VALUE),
    _place("command-password", b"mariadb", rb"\bmariadb(?:-dump|-admin)?" + _ARGUMENTS + rb"-p" + _VALUE),
    _place("command-password", b"sshpass", rb"\bsshpass[ \t]{1,4}-p[ \t]{0,4}" + _VALUE),
    _place("command-password", b"docker", rb"\bdocker[ \t]{1,4}login" + _ARGUMENTS + rb"-p[ \t]{1,4}" + _VALUE),
    _place("command-password", b"redis-cli", rb"\bredis-cli" + _ARGUMENTS + rb"-a[ \t]{1,4}" + _VALUE),
    _place("command-password", b"ldap", rb"\bldap(?:search|modify|add|delete|whoami)" + _ARGUMENTS + rb"-w[ \t]{0,4}" + _VALUE),
    _place("command-password", b"htpasswd", rb"\bhtpasswd[ \t]{1,4}-[a-z]{0,6}b[a-z]{0,6}" + _TWO_WORDS + _VALUE),
    _place("command-password", b"pass:", rb"-pass(?:in|out)?[ \t]{1,4}pass:" + _VALUE),
    _place("command-password", b"--passphrase", rb"--passphrase[= \t]{1,4}" + _VALUE),
    _place("command-password", b"-storepass", rb"-(?:store|key)pass[ \t]{1,4}" + _VALUE),
    _place("command-password", b"smbclient", rb"\bsmbclient" + _ARGUMENTS + rb"-U[ \t]{0,4}[^\s%]{1,80}%" + _VALUE),
    _place("command-password", b"--from-literal", rb"--from-literal=[\w.\-]{1,80}=" + _VALUE),
    _place("basic-auth", b"curl", rb"\bcurl\b" + _ARGUMENTS + rb"(?:-u|--user)[= \t]{0,4}" + _LOGIN),
    _place("basic-auth", b"http", rb"\bhttps?[ \t]" + _ARGUMENTS + rb"(?:-a|--auth)[= \t]{1,4}" + _LOGIN),
    _place("command-password", b"wget", rb"\bwget\b" + _ARGUMENTS + rb"--(?:http-|ftp-|proxy-)?password[= \t]" + _VALUE),
    _place("password", b"pgpassword", rb"\bPGPASSWORD=" + _VALUE),
    _place("password", b"mysql_pwd", rb"\bMYSQL_PWD=" + _VALUE),
    _place("ansible-password", b"ansible_", rb"\bansible_(?:[a-z]{3,6}_)?pass(?:word)?[ \t]{0,4}[:=][ \t]{0,4}" + _VALUE),
    _place("netrc-password", b"login", rb"\blogin\s{1,20}\S{1,100}\s{1,20}password\s{1,20}(?P<secret>\S{4,200})"),
    _place("npm-auth", b"_auth", rb"(?<![A-Za-z0-9])_auth[ \t]{0,4}=[ \t]{0,4}\"?(?P<secret>[A-Za-z0-9+/_\-]{8,400}={0,2})"),
    _place("npm-auth", b":_password", rb":_password[ \t]{0,4}=[ \t]{0,4}\"?(?P<secret>[A-Za-z0-9+/_\-]{8,400}={0,2})"),
    _place("password", b"password", _CONNECTION + rb"password" + _FIELD_VALUE),
    _place("password", b"pwd", _CONNECTION + rb"pwd" + _FIELD_VALUE),
    _place("password", b"export", rb"\bexport[ \t]{1,8}\w{0,60}(?:PASSWORD|PASSWD|SECRET|TOKEN)=" + _VALUE),
    _place("password", b"password=", rb"(?-i:\b[A-Z][A-Z0-9_]{0,60}PASSWORD|\bPASSWORD)=" + _MIXED),
    _place("password", b"password is", rb"\bpassword is (?:now )?" + _MIXED),
    _place("password", b"passphrase is", rb"\bpassphrase is (?:now )?" + _MIXED),
    _place("password", b"psk", rb"^[ \t]{0,8}(?:wpa_)?psk[ \t]{0,4}=[ \t]{0,4}[\"']?(?P<secret>[^\s\"']{8,64})"),
    _place("password", b"bind", rb"\bbind_?pw[ \t]{0,4}[:= \t][ \t]{0,4}" + _VALUE),
    _place("password-hash", b":$apr1$", rb"^[\w.@\-]{1,100}:\$apr1\$(?P<secret>[\w./]{1,8}\$[\w./]{22})"),
    _place("password", b":5432:", rb"^[\w.\-*]{1,100}:5432:[\w\-*]{1,100}:[\w.\-]{1,100}:(?P<secret>[^\s:]{4,200})\s{0,4}$"),
    _place("password", b"<password>", rb"<password>\s{0,80}<value>(?P<secret>[^<\s]{4,200})</value>"),
    _place("snmp-community", b"snmp-server", rb"\bsnmp-server[ \t]{1,4}community[ \t]{1,4}(?!public\b|private\b)" + _VALUE),
    _place("password", b"password 7", rb"\bpassword 7 (?P<secret>[0-9A-F]{6,128})\b"),
    _place("token", b"token=", rb"[?&](?:access_|auth_|api_|id_|refresh_)?token=(?P<secret>[A-Za-z0-9._~\-]{12,400})"),
)  # fmt: skip
_DOCKER_AUTH: Final = re.compile(
    rb"\"auth\"\s{0,8}:\s{0,8}\"(?P<secret>[A-Za-z0-9+/]{8,400}={0,2})\""
)
_KIND_SECRET: Final = re.compile(
    rb"^kind:[ \t]{0,8}[\"']?Secret[\"']?[ \t]{0,8}\r?$", re.MULTILINE
)
_DATA: Final = re.compile(
    rb"^(?:data|stringData):[ \t]{0,8}\r?\n(?P<lines>(?:[ \t]+[^\n]*(?:\n|$)|[ \t]*\r?\n)*)",
    re.MULTILINE,
)
_ENTRY: Final = re.compile(
    rb"^[ \t]+[\"']?[\w.\-]{1,100}[\"']?:[ \t]{1,8}[\"']?(?P<secret>[^\s\"'#|>{}]{4,4000})",
    re.MULTILINE,
)
_DOCUMENT_END: Final = re.compile(rb"^---", re.MULTILINE)


def find_places(data: bytes, lower: bytes) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, kind) of values in places for secrets."""
    for place in _PLACES:
        if place.clue not in lower:
            continue
        for match in place.pattern.finditer(data):
            if _is_value(match["secret"]):
                yield (*match.span("secret"), place.kind)
    yield from _find_docker_logins(data)
    yield from _find_kubernetes_secrets(data)


def _is_value(value: bytes) -> bool:
    """Return whether a value is neither a placeholder, nor a variable, nor another option."""
    return not value.startswith((b"$", b"-", b"%")) and value_shapes.is_filled_in(value)


def _find_docker_logins(data: bytes) -> Iterator[tuple[int, int, str]]:
    """Yield the values of `auth` in a Docker configuration: `user:password` in base64."""
    if b'"auth"' not in data:
        return
    for match in _DOCKER_AUTH.finditer(data):
        try:
            login = base64.b64decode(match["secret"], validate=True)
        except binascii.Error:
            continue
        if b":" in login and login.isascii():
            yield (*match.span("secret"), "docker-auth")


def _find_kubernetes_secrets(data: bytes) -> Iterator[tuple[int, int, str]]:
    """Yield the values below `data` and `stringData` of a Kubernetes object of the kind `Secret`."""
    for kind in _KIND_SECRET.finditer(data):
        start = data.rfind(b"\n---", 0, kind.start()) + 1
        end = _DOCUMENT_END.search(data, kind.end())
        last = end.start() if end else len(data)
        for block in _DATA.finditer(data, start, last):
            for entry in _ENTRY.finditer(data, block.start("lines"), block.end("lines")):
                if not value_shapes.is_placeholder(entry["secret"]):
                    yield (*entry.span("secret"), "kubernetes-secret")


# ── values whose name stands apart ────────────────────────────────────────────────────────────────

_SECRET_NAME: Final = rb"(?P<name>[a-z0-9_.\-]{0,40}?(?:pass(?:word|wd|phrase)|pwd|secret|token|key)[a-z0-9_.\-]{0,20})"
_NAMED_VALUE: Final = (
    rb"(?P<quote>[\"']?)(?P<secret>[^\s\"'`,;<>(){}\[\]]{5,300})(?=[\s\"',\]}]|$)"
)
_LINE_END: Final = rb"[ \t]{0,20}\r?\n[ \t]{0,80}"
_KINDS: Final = ((b"pass", "password"), (b"pwd", "password"), (b"token", "token"))


class _Form(NamedTuple):
    """The expression of a name and its value in lower case, and the text that it begins with.

    An expression that begins with a fixed text is quick where that text is rare.
    """

    clue: bytes
    pattern: re.Pattern[bytes]


def _form(clue: bytes, rest: bytes) -> _Form:
    return _Form(clue, re.compile(re.escape(clue) + rest, re.M))


_THEN_VALUE: Final = (
    rb"[\"']?[ \t]{0,8}:[ \t]{0,8}[\"']?" + _SECRET_NAME
    + rb"[\"']?[ \t]{0,8},?\s{0,80}[\"']?value[\"']?[ \t]{0,8}:[ \t]{0,8}" + _NAMED_VALUE
)  # fmt: skip
_FORMS: Final = (
    _form(b"name", _THEN_VALUE),
    _form(b"key", _THEN_VALUE),
    _form(
        b"- ",
        rb" {0,8}[\"']?--?"
        + _SECRET_NAME
        + rb"[\"']?"
        + _LINE_END
        + rb"-[ \t]{1,8}"
        + _NAMED_VALUE,
    ),
    _form(b"\nenv ", rb"[ \t]{0,8}" + _SECRET_NAME + rb"[ \t]{1,8}" + _NAMED_VALUE),
    _form(
        b'variable "',
        _SECRET_NAME
        + rb"\"[^{}]{0,8}\{[^{}]{0,400}?\bdefault[ \t]{0,20}=[ \t]{0,20}"
        + _NAMED_VALUE,
    ),
)
_ENTRIES: Final = (
    rb"[\"']?[ \t]{0,8}[:=][ \t]{0,8}"
    rb"(?P<entries>\[[^\]]{5,4000}\]|(?:\r?\n[ \t]{0,80}-[ \t]{1,8}[^\s:]{1,300}[ \t]{0,8}(?=\r?$)){1,200})"
)
_LISTS: Final = tuple(
    _form(word, _ENTRIES) for word in (b"passwords", b"tokens", b"secrets", b"keys")
)
_LIST_ENTRY: Final = re.compile(rb"(?:^|[\s\[,])" + _NAMED_VALUE)
_NAME_CHARACTERS: Final = b"abcdefghijklmnopqrstuvwxyz0123456789_-."
_MAX_NAME: Final = 40


def find_named_values(data: bytes, lower: bytes) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, kind) of values that look like secrets and have the name of one."""
    for form in _FORMS:
        if form.clue in lower:
            for match in form.pattern.finditer(lower):
                yield from _secret_in(data, match, match["name"])
    for form in _LISTS:
        if form.clue in lower:
            for match in form.pattern.finditer(lower):
                name = _beginning(lower, match.start()) + form.clue.removesuffix(b"s")
                for entry in _LIST_ENTRY.finditer(lower, *match.span("entries")):
                    yield from _secret_in(data, entry, name)


def _beginning(lower: bytes, position: int) -> bytes:
    """Return the part of a name that stands directly before a position."""
    before = lower[max(0, position - _MAX_NAME) : position]
    return before.removeprefix(before.rstrip(_NAME_CHARACTERS))


def _secret_in(
    data: bytes, match: re.Match[bytes], name: bytes
) -> Iterator[tuple[int, int, str]]:
    """Yield the value of a match if its name is that of a secret and it looks like one."""
    if not value_shapes.names_secret(name):
        return
    start, end = match.span("secret")
    kind = next((kind for word, kind in _KINDS if word in name), "secret")
    looks_secret = value_shapes.is_password if kind == "password" else value_shapes.is_token
    if looks_secret(data[start:end], is_bare=not match["quote"]):
        yield start, end, kind
