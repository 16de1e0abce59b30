(comment) @attached

; ── definitions ──────────────────────────────────────────────────────────────────────────────────
(module name: (_) @name body: (_)? @body) @definition.module
(class name: (_) @name body: (_)? @body) @definition.class
(singleton_class) @scope
(method name: (_) @name body: (_)? @body) @definition.function
(singleton_method name: (_) @name body: (_)? @body) @definition.method
(assignment left: (constant) @name) @definition.constant
(call
  method: (identifier) @_attribute
  arguments: (argument_list (simple_symbol) @name)
  (#match? @_attribute "^attr_(reader|writer|accessor)$")) @definition.field

; ── imports ──────────────────────────────────────────────────────────────────────────────────────
(call
  !receiver
  method: (identifier) @_require
  arguments: (argument_list . (string) @name .)
  (#match? @_require "^(require|require_relative|load|autoload)$")) @import.module

; ── references ───────────────────────────────────────────────────────────────────────────────────
(call !receiver method: (identifier) @name) @reference.call
(call receiver: (_) @receiver method: (_) @name) @reference.call
(call
  receiver: [(constant) (scope_resolution)] @name
  method: (identifier) @_new
  (#eq? @_new "new")) @reference.new
(superclass [(constant) (scope_resolution)] @name @reference.extends)
(call
  !receiver
  method: (identifier) @_include
  arguments: (argument_list [(constant) (scope_resolution)] @name @reference.uses_trait)
  (#match? @_include "^(include|extend|prepend)$"))

; ── written types ────────────────────────────────────────────────────────────────────────────────
(assignment
  left: (identifier) @name
  right: (call receiver: [(constant) (scope_resolution)] @type method: (identifier) @_new)
  (#eq? @_new "new")) @binding.local
(assignment
  left: (instance_variable) @name
  right: (call receiver: [(constant) (scope_resolution)] @type method: (identifier) @_new)
  (#eq? @_new "new")) @binding.field

; ── names whose type is not written ──────────────────────────────────────────────────────────────
(assignment left: (identifier) @name right: (_)) @binding.other
(method_parameters (identifier) @name @binding.other)
(block_parameters (identifier) @name @binding.other)
(optional_parameter name: (identifier) @name) @binding.other
(assignment left: (instance_variable) @name right: (_)) @binding.assigned
