"""Files and folders that are skipped by their name alone, and the reason that a report gives."""

from __future__ import annotations

from functools import cache

from ragstone.sources.folder.ignore_rules import IgnoreRules

OWN_FOLDERS = frozenset({".git", ".ragstone"})
"""Never entered and never listed: the data of git and of Ragstone."""

_SKIPPED_FOLDERS = {
    "node_modules": "installed packages",
    "bower_components": "installed packages",
    "site-packages": "installed packages",
    "__pycache__": "cache folder",
    ".mypy_cache": "cache folder",
    ".ruff_cache": "cache folder",
    ".pytest_cache": "cache folder",
    ".tox": "virtual environment",
    ".nox": "virtual environment",
    ".hg": "version control data",
    ".svn": "version control data",
}
_SKIPPED_IF_HOLDING = {"pyvenv.cfg": "virtual environment", "CACHEDIR.TAG": "cache folder"}
_SECRET_FOLDERS = frozenset({".ssh", ".gnupg", ".aws", ".azure", ".kube"})

# Lines of a `.gitignore` for names in lower case; a later line wins.
_SECRET = """
.env .env.* *.env .envrc !.env.example !.env.sample !.env.template !.env.dist !.env.defaults !.env.*.example
!example.env !sample.env !template.env .netrc _netrc .npmrc .yarnrc.yml .pypirc .pgpass .my.cnf .htpasswd
.git-credentials .dockercfg .dockerconfigjson .vault_pass .vault-token .dev.vars .s3cfg .boto .terraformrc
terraform.tfstate terraform.tfstate.* *.tfvars kubeconfig *.kubeconfig id_rsa id_dsa id_ecdsa id_ecdsa_sk
id_ed25519 id_ed25519_sk *.pem *.key *.p8 *.p12 *.pfx *.ppk *.jks *.keystore *.kdbx *.agekey *.ovpn credentials
credentials.json credentials.toml application_default_credentials.json service-account*.json
service_account*.json client_secret*.json secrets.json secrets.toml secrets.yaml secrets.yml
""".split()
_GENERATED = """
package-lock.json npm-shrinkwrap.json packages.lock.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock
composer.lock poetry.lock pdm.lock uv.lock pixi.lock pipfile.lock conda-lock.yml cargo.lock gemfile.lock
podfile.lock package.resolved pubspec.lock mix.lock flake.lock go.sum gradle.lockfile .terraform.lock.hcl
*.min.js *.min.css *.min.mjs *.map *.tsbuildinfo *_pb2.py *_pb2_grpc.py *.pb.go *.designer.cs .ds_store
thumbs.db
""".split()


def folder_reason(name: str, entries: frozenset[str], *, secrets: bool) -> str | None:
    """Return why a folder with this name and these entries is skipped, or None; `secrets` includes secret folders."""
    if name.lower() in _SECRET_FOLDERS and not secrets:
        return "folder of secrets"
    if name in _SKIPPED_FOLDERS:
        return _SKIPPED_FOLDERS[name]
    for entry, reason in _SKIPPED_IF_HOLDING.items():
        if entry in entries:
            return reason
    return None


def file_reason(name: str, *, secrets: bool) -> str | None:
    """Return why a file with this name is skipped, or None; `secrets` includes secret files."""
    name = name.lower()
    if not secrets and _secret_rules().verdict(name):
        return "secret file"
    if _generated_rules().verdict(name):
        return "generated file"
    return None


@cache
def _secret_rules() -> IgnoreRules:
    return IgnoreRules(_SECRET)


@cache
def _generated_rules() -> IgnoreRules:
    return IgnoreRules(_GENERATED)
