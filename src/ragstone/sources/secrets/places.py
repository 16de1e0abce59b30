"""Places that exist for secrets: options of commands, lines of well-known files, fields of connection strings.

The place shows that a value is a secret, so its shape need not: any value that is filled in counts.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from ragstone.sources.secrets import shapes

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
    return not value.startswith((b"$", b"-", b"%")) and shapes.is_filled_in(value)


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
                if not shapes.is_placeholder(entry["secret"]):
                    yield (*entry.span("secret"), "kubernetes-secret")
