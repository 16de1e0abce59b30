(comment) @attached

; ── definitions ──────────────────────────────────────────────────────────────────────────────────
(function_definition name: (word) @name body: (_)? @body) @definition.function
(program (variable_assignment name: (variable_name) @name) @definition.constant)
(program (declaration_command (variable_assignment name: (variable_name) @name)) @definition.constant)

; ── imports ──────────────────────────────────────────────────────────────────────────────────────
(command
  name: (command_name (word) @_source)
  argument: (_) @name
  (#match? @_source "^(source|\\.)$")) @import.module

; ── references ───────────────────────────────────────────────────────────────────────────────────
(command name: (command_name (word) @name)) @reference.call
