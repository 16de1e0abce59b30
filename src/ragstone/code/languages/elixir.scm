(comment) @attached
(unary_operator operator: "@" operand: (call target: (identifier) @_attribute)
  (#match? @_attribute "^(doc|spec|impl|deprecated|since|typedoc|type|opaque|callback)$")) @attached

; ── definitions ──────────────────────────────────────────────────────────────────────────────────
(call
  target: (identifier) @_keyword
  (arguments . (alias) @name)
  (do_block) @body
  (#match? @_keyword "^(defmodule|defprotocol|defimpl)$")) @definition.module
(call
  target: (identifier) @_keyword
  (arguments . [
    (identifier) @name
    (call target: (identifier) @name)
    (binary_operator left: (call target: (identifier) @name) operator: "when")
    (binary_operator left: (identifier) @name operator: "when")
  ])
  (do_block)? @body
  (#match? @_keyword "^(def|defp|defmacro|defmacrop|defguard|defguardp|defdelegate|defn|defnp)$")) @definition.function

; ── imports ──────────────────────────────────────────────────────────────────────────────────────
(call
  target: (identifier) @_keyword
  (arguments . (alias) @name)
  (#match? @_keyword "^(alias|import|require|use)$")) @import.module

; ── references ───────────────────────────────────────────────────────────────────────────────────
(call target: (dot left: (_) @receiver right: (identifier) @name)) @reference.call
