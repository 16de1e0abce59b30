"""A small abstract interpreter on the common program shape. It executes nothing: it follows what is written.

Use it so::

    machine = Evaluator(world, PHP, Known(classes={"illuminate\\\\support\\\\facades\\\\route": RouteFacade(...)}))
    machine.run("routes/web.php")                      # the value the file returns
    machine.call_method(machine.make("App\\\\P"), "boot")  # `$this->…` inside works
    machine.remarks                                    # what could not be known, `path:line: why`

**Values** are plain Python (`str int float bool None`), `Array` (ordered; lists, dictionaries and PHP arrays alike),
`Lambda` (a closure or function with what it captured), `ClassRef` (a class as such; `X::class` is a `str`), `Instance`
(an object of a class of the project, or of one that is not known), `Case` (of an enum), `Unknown`, and `Recorder`s.

**Unknown(reason, shown, options)** never stops anything: calls on it, members of it and texts with it are unknown too.
`shown` is how it may be written for a person (`config(app.url)`), and texts built from it keep that: `shown(value)`
returns the text of any value, an unknown one included. `options` are values it may have, the likeliest first: what
branches of a condition left, or the default of a setting; `first_known(value)` returns the first known one.

**Adapters** hand in recorders by `Known`:

- `classes`: full name in lower case → a `Recorder`, whose `called(name, given, site, machine)` gets static calls
  (facades) and, as the name `new`, what is made of the class. Methods that an app's class does not have and does not
  inherit go to the recorder of the nearest ancestor that is in `classes`, with `given.this` the object.
- `functions`: full name in lower case (PHP) → a function `(given, site, machine) -> Value`; these go before the
  language's own table.
- objects: return a `Recorder` of your own from a call: whatever is called on it comes to its `called`; members that are
  read go to `member(name, site, machine)`, members and keys that are set to `assigned(name, value, site, machine)`.

`given` has `positional`, `named`, `at(0, "name", default)` and `lines` of its arguments, as arrays have of their
entries; `site` has `uri`, `line` (of the called name) and `conditional` (some branch, loop or handler around it may not
run). A closure among the arguments is run only when a recorder does so: `machine.call(value, [arguments], site)`, which
also takes names of functions, `[object, "method"]` and `"Class@method"`. All branches of a condition that is not known
are taken, each from the same start, and all in them is conditional; a condition that is known takes its branch alone.

**Languages** are tables (`Language`): truth, keys, operators, functions, methods of plain values, whether arrays are
copied, and how a bare name is resolved. `PHP` is in `evaluate.php`.

Bounded: `Limits(steps, depth, repeats, again)`, the steps for each call of an adapter that is not inside of another;
past them a run is Unknown and a remark says so.
"""

from __future__ import annotations

from ragstone_code.evaluate.language import Language
from ragstone_code.evaluate.machine import Evaluator, Limits, Stubs
from ragstone_code.evaluate.php import PHP
from ragstone_code.evaluate.values import (
    Arguments,
    Array,
    CallSite,
    ClassRef,
    EnumCase,
    Instance,
    Lambda,
    Recorder,
    Unknown,
    Value,
    display_text,
    first_known,
)

__all__ = [
    "PHP",
    "Array",
    "EnumCase",
    "ClassRef",
    "Evaluator",
    "Arguments",
    "Instance",
    "Stubs",
    "Lambda",
    "Language",
    "Limits",
    "Recorder",
    "CallSite",
    "Unknown",
    "Value",
    "first_known",
    "display_text",
]
