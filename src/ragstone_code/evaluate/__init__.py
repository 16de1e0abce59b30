"""An abstract interpreter for PHP programs. It executes nothing; it follows the program's syntax tree.

Example::

    stubs = Stubs(classes={"illuminate\\\\support\\\\facades\\\\route": RouteFacade(...)})
    evaluator = Evaluator(world, PHP, stubs)
    evaluator.run("routes/web.php")                            # the value that the file returns
    evaluator.call_method(evaluator.make("App\\\\P"), "boot")  # `$this` works inside the method
    evaluator.remarks                                          # problems, as `path:line: reason`

**Values.** Scalars are plain Python (`str int float bool None`). `Array` holds ordered entries by key. `Lambda` is a
function with its captured variables. `ClassRef` is a class; `X::class` is a `str`. `Instance` is an object, `EnumCase`
a case of an enum, `Unknown` a value that cannot be computed, and `Recorder` an object of an adapter.

**Unknown values.** Evaluation goes on after an unknown value: its members, its calls and texts with it are unknown too.
`Unknown.display` is text for a reader, such as `config(app.url)`; texts that contain the value keep it.
`display_text(value)` returns the text of any value. `Unknown.options` lists possible values, the likeliest first:
results of the branches of a condition, or the default of a setting. `first_known(value)` returns the first option.

**Stubs.** An adapter passes its own classes and functions as `Stubs`:

- `classes` maps a full class name in lower case to a `Recorder`. Its `on_call` gets static calls (facades) and object
  creation (the method name is `new`). If an object of the project has no such method, the call goes to the recorder
  of its nearest ancestor in `classes`; `arguments.this` is then the object.
- `functions` maps a function name in lower case to `(arguments, site, evaluator) -> Value`. These functions take
  precedence over the functions of the language.
- `on_call` may return another `Recorder`. Calls, member reads and assignments on it go to `on_call`, `on_member` and
  `on_assign`.

`CallSite` has the file and the line of the called name. It is `conditional` if a branch, a loop or an exception handler
around the call may not run. A closure argument runs only if a recorder calls it by `evaluator.call(closure, [], site)`.

**Conditions.** If a condition is unknown, the evaluator follows all branches, each from the same variables, and marks
every call inside as conditional. If a condition is known, it follows only the matching branch.

**Limits.** `Limits` bounds the steps of each outermost call of an adapter, the nesting depth and the loop iterations.
If a limit is reached, the result is `Unknown` and a remark names the file.
"""

from __future__ import annotations

from ragstone_code.evaluate.evaluator import Evaluator, Limits, Stubs
from ragstone_code.evaluate.language import Language
from ragstone_code.evaluate.php_rules import PHP
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
    "Arguments",
    "Array",
    "CallSite",
    "ClassRef",
    "EnumCase",
    "Evaluator",
    "Instance",
    "Lambda",
    "Language",
    "Limits",
    "Recorder",
    "Stubs",
    "Unknown",
    "Value",
    "display_text",
    "first_known",
]
