"""Lists of commands as the help of many programs writes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.sources.command_help.subcommands import list_subcommands

STYLES = {
    "click": (
        """Usage: tool [OPTIONS] COMMAND [ARGS]...

  Does things with files and folders.

Options:
  --version  Show the version.
  --help     Show this message and exit.

Commands:
  add         Store files, by hand or from a pipe; a long description that is
              wrapped to the next line.
  remove-all  Remove documents.
  help        Show help.
""",
        "add remove-all",
    ),
    "argparse": (
        """usage: tool [-h] [--level {low,high}] {start,stop,re-start} ...

positional arguments:
  {start,stop,re-start}
    start               begin
    stop                end

options:
  -h, --help            show this help message and exit
  --level {low,high}
""",
        "start stop re-start",
    ),
    "argparse with a title": (
        """usage: tool [-h] COMMAND ...

subcommands:
  COMMAND
    one       the first
    two       the second
""",
        "one two",
    ),
    "argparse with choices but no commands": (
        "usage: tool [-h] {red,green} file\n\npositional arguments:\n  {red,green}\n",
        "",
    ),
    "cobra": (
        """Manages stones.

Usage:
  tool [command]

Available Commands:
  completion  Generate the autocompletion script for the specified shell
  get         Display one or many

Flags:
  -h, --help   help for tool

Use "tool [command] --help" for more information about a command.
""",
        "completion get",
    ),
    "cobra in groups": (
        """Basic Commands (Beginner):
  create          Create a resource
  expose          Take a thing and expose it

Cluster Management Commands:
  top             Display usage

Usage:
  tool [flags] [options]
""",
        "create expose top",
    ),
    "capitals and colons": (
        """USAGE
  tool <command> <subcommand> [flags]

CORE COMMANDS
  auth:        Authenticate
  browse:      Open in the browser

HELP TOPICS
  environment: Variables

FLAGS
  --help      Show help
""",
        "auth browse",
    ),
    "clap": (
        """Usage: tool [OPTIONS] <COMMAND>

Commands:
  build, b    Compile the package
  run, r      Run it
  ...         See all commands with --list

Options:
  -V, --version  Print version
""",
        "build run",
    ),
    "git": (
        """usage: tool [--version] [--help] <command> [<args>]

These are common commands used in various situations:

start a working area (see also: tool help tutorial)
   clone     Clone a repository
   init      Create an empty one

grow, mark and tweak your history
   branch    List, create, or delete branches

'tool help -a' lists available subcommands and some
concept guides.
""",
        "clone init branch",
    ),
    "a longer list of git's": (
        "See 'tool help <command>' to read about it\n\nMain Porcelain Commands\n   add    Add\n   am     Apply\n\n"
        "Ancillary Commands / Manipulators\n   config   Get and set\n",
        "add am config",
    ),
    "commas": (
        "All commands:\n\n    access, adduser, audit,\n    bugs, ci\n    cache,\n",
        "access adduser audit bugs ci cache",
    ),
    "columns": (
        "Standard commands\nasn1parse         ca                ciphers\ncmp               cms               crl\n",
        "asn1parse ca ciphers cmp cms crl",
    ),
    "tabs": (
        "The commands are:\n\n        bug         start a bug report\n        build       compile\n",
        "bug build",
    ),
    "dashes": (
        "Most used commands:\n  list - list packages\n  edit-sources - edit the list\n",
        "list edit-sources",
    ),
    "arguments": (
        "Unit Commands:\n  list-units [PATTERN...]  List units\n  is-active PATTERN...     Check\n  cat <U>   Show\n",
        "list-units is-active cat",
    ),
    "namespaces": (
        "Available commands:\n  about         Show\n cache\n  cache:clear   Flush\n make\n  make:model    Create\n",
        "about cache:clear make:model",
    ),
    "plug-ins with a star": (
        "Management Commands:\n  app*        An app\n  builder     Manage\n",
        "app builder",
    ),
    "a manual": (
        """TOOL-STASH(1)                 Manual                 TOOL-STASH(1)

NAME
       tool-stash - Stash the changes

SYNOPSIS
       tool stash list [<options>]

COMMANDS
       push [-p | --patch] [-m <message>]
           Save your local modifications to a new entry and roll them
           back to HEAD.

       list [<options>]
           List the entries.

       clear
           Remove all.

OPTIONS
       -a, --all
           all    of them
""",
        "push list clear",
    ),
    "no commands": (
        "usage: python [option] ... [-c cmd | -m mod | file | -] [arg] ...\nOptions:\n-b     : issue warnings\n"
        "Arguments:\nfile   : program read from script file\n",
        "",
    ),
    "prose about commands": (
        "This runs commands on a remote host. See its manual for all the commands.\n",
        "",
    ),
    "nothing": ("", ""),
}


@pytest.mark.parametrize(("text", "names"), STYLES.values(), ids=STYLES)
def test_the_commands_of_many_styles_are_found(text: str, names: str) -> None:
    assert list_subcommands(text) == names.split()


@given(st.text(st.characters(codec="utf-8"), max_size=300))
def test_a_name_can_never_be_an_option_or_a_path(text: str) -> None:
    for name in list_subcommands(f"Commands:\n{text}\n  {text}"):
        assert not name.startswith(("-", ".", "/"))
        assert not set(name) & set("/\\ \t\n'\"$`;&|<>*?~\0")
