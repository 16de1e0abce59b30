(comment) @attached

; ── definitions ──────────────────────────────────────────────────────────────────────────────────
(function_declaration name: (identifier) @name body: (_)? @body) @definition.function
(variable_declaration . (identifier) @name (struct_declaration "{" @body)) @definition.struct
(variable_declaration . (identifier) @name (union_declaration "{" @body)) @definition.struct
(variable_declaration . (identifier) @name (enum_declaration "{" @body)) @definition.enum
(variable_declaration . (identifier) @name (opaque_declaration "{" @body)) @definition.struct
(source_file (variable_declaration . (identifier) @name) @definition.constant)
(struct_declaration (variable_declaration . (identifier) @name) @definition.constant)
(container_field name: (identifier) @name) @definition.field
(test_declaration (string (string_content) @name) (block) @body) @definition.function

; ── imports ──────────────────────────────────────────────────────────────────────────────────────
(builtin_function
  (builtin_identifier) @_import
  (arguments (string) @name)
  (#eq? @_import "@import")) @import.module

; ── references ───────────────────────────────────────────────────────────────────────────────────
(call_expression function: (identifier) @name) @reference.call
(call_expression function: (field_expression object: (_) @receiver member: (_) @name)) @reference.call
