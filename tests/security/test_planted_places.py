"""Secrets in the places where people leave them: most are found, and clean files are left alone."""

from __future__ import annotations

import base64
import random
import string

import pytest

from ragstone.sources.secrets.redaction import redact

LETTERS = string.ascii_letters + string.digits
PLACES = (
    '{{"auths": {{"registry.internal": {{"auth": "{login64}"}}}}}}',
    "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  password: {value64}\n",
    "apiVersion: v1\nkind: Secret\nstringData:\n  url: {value}\ntype: Opaque\n",
    'conn = "Server=db.internal;Database=shop;User Id=app;Password={value};Encrypt=true"',
    "Data Source=sql01;Initial Catalog=crm;uid=app;pwd={value};",
    "mysql -u root -p{value} shop < dump.sql",
    "mysqldump --single-transaction -uapp -p'{value}' shop",
    "curl -u admin:{value} https://ci.internal/job/1",
    "curl -X POST --user deploy:{value} https://ci.internal/build",
    "sshpass -p {value} ssh root@10.0.0.5",
    "sshpass -p '{value}' scp a.tgz root@10.0.0.5:/tmp",
    "web1 ansible_host=10.0.0.7 ansible_user=root ansible_ssh_pass={value}",
    "ansible_become_password: {value}",
    "//registry.internal/:_password={value64}",
    "_auth={login64}",
    "machine git.internal login ada password {value}",
    "machine git.internal\n  login ada\n  password {value}\n",
    '"""Connect.\n\n    >>> open("https://api.internal/v1?token={token}")\n"""',
    '"""Usage: fetch(url, token="{token}") returns a page."""',
    " 501  export DB_PASSWORD={value}\n 502  ls",
    "PGPASSWORD={value} psql -h db.internal shop",
    "MYSQL_PWD={value} mysql -u root",
    "docker login -u ada -p {value} registry.internal",
    "redis-cli -h cache.internal -a {value} ping",
    "openssl rsa -in key.pem -passin pass:{value}",
    "kubectl create secret generic db --from-literal=password={value}",
    "ldapsearch -x -D cn=admin,dc=corp -w {value} -b dc=corp",
    "htpasswd -bc .htpasswd ada {value}",
    "gpg --batch --passphrase {value} -d backup.gpg",
    "keytool -list -keystore a.jks -storepass {value}",
    "wget --user=ada --password={value} https://files.internal/a",
)
CLEAN = """\
mysql -u root -p shop
mysql -uroot -p$PASSWORD shop
mysqldump -p"${PASSWORD}" shop
curl -u "$USER:$TOKEN" https://ci.example/job
curl -u user:password https://ci.example/job
curl -uv https://example.org
sshpass -p "$PASS" ssh host
machine example.com login user password <password>
Server=localhost;Database=test;User Id=sa;Password=<password>;
ansible_ssh_pass: "{{ vault_ssh_pass }}"
docker run -p 8080:80 nginx
redis-cli -a "$REDIS_PASSWORD" ping
The login page asks for a password and shows an error.
kind: ConfigMap
data:
  colour: turquoise-and-gold
next_url = f"{base}?token={token}"
"""


def make_password(choices: random.Random) -> str:
    """Return a password of a word, digits and a sign, as people make them."""
    word = "".join(choices.choices(string.ascii_lowercase, k=6)).capitalize()
    return word + "".join(choices.choices(string.digits, k=3)) + choices.choice("!#+_")


def test_nearly_all_secrets_in_places_for_secrets_are_found(seed: int) -> None:
    choices = random.Random(seed)
    missed = []
    for round_number in range(10):
        for place in PLACES:
            value = make_password(choices)
            token = "".join(choices.choices(LETTERS, k=24)) + "7b2"
            fields = {
                "value": value,
                "value64": base64.b64encode(value.encode()).decode(),
                "login64": base64.b64encode(f"ada:{value}".encode()).decode(),
                "token": token,
            }
            text = place.format(**fields)
            secrets = [fields[name] for name in fields if f"{{{name}}}" in place]
            clean, _ = redact(text, uri=f"file{round_number}.txt")
            if any(secret in clean for secret in secrets):
                missed.append(text)
    assert len(missed) <= 0.05 * 10 * len(PLACES), missed[:20]


@pytest.mark.parametrize(
    ("password", "token"),
    [("Walrus913!", "hZ4kQx9TbWm2LcR8vNs5pYd7"), ("walrusglade", "w4lrus-gl4de-h4rbour")],
)
@pytest.mark.parametrize("place", PLACES)
def test_a_password_in_each_of_these_places_is_found(
    place: str, password: str, token: str
) -> None:
    fields = {
        "value": password,
        "value64": base64.b64encode(password.encode()).decode(),
        "login64": base64.b64encode(f"ada:{password}".encode()).decode(),
        "token": token,
    }
    clean, _ = redact(place.format(**fields), uri="notes.txt")
    assert not [name for name, secret in fields.items() if secret in clean]


def test_a_token_in_the_address_of_a_docstring_is_found_even_if_it_is_made_of_words() -> None:
    text = (
        '"""Connect.\n\n    >>> open("https://api.internal/v1?token=walrusgladeofharbour")\n"""'
    )
    assert "walrusglade" not in redact(text, uri="client.py")[0]


def test_placeholders_and_variables_in_these_places_stay() -> None:
    assert redact(CLEAN, uri="notes.txt")[0] == CLEAN


def test_a_password_in_a_sentence_is_found_and_talk_about_passwords_stays() -> None:
    for text in ("The password is xNKu8iS2G8NP.", "our passphrase is now `q7-Vt2mWz9`"):
        assert "[SECRET:password]" in redact(text, uri="notes.txt")[0]
    for text in (
        "The password is required.",
        "A password is at least 8 characters long.",
        "The password is 8-64 characters long.",
        "The password is stored in 1Password.",
    ):
        assert redact(text, uri="notes.txt")[0] == text
