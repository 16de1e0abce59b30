(comment) @attached
(variable_declaration (assignment_statement) @inner) @around

; ── definitions ──────────────────────────────────────────────────────────────────────────────────
(function_declaration
  name: (dot_index_expression table: (_) @owner field: (_) @name)
  body: (_)? @body) @definition.function
(function_declaration
  name: (method_index_expression table: (_) @owner method: (_) @name)
  body: (_)? @body) @definition.method
(function_declaration name: (identifier) @name body: (_)? @body) @definition.function
(assignment_statement
  (variable_list . name: (dot_index_expression table: (_) @owner field: (_) @name) .)
  (expression_list . value: (function_definition body: (_)? @body))) @definition.function
(assignment_statement
  (variable_list . name: (identifier) @name .)
  (expression_list . value: (function_definition body: (_)? @body))) @definition.function
(chunk
  (assignment_statement
    (variable_list . name: (dot_index_expression table: (_) @owner field: (_) @name) .)
    (expression_list . value: (table_constructor) @body)) @definition.constant)
(chunk
  (variable_declaration
    (assignment_statement
      (variable_list . name: (identifier) @name .)
      (expression_list . value: (table_constructor) @body)) @definition.constant))

; ── imports ──────────────────────────────────────────────────────────────────────────────────────
(function_call
  name: (identifier) @_require
  arguments: (arguments . (string) @name .)
  (#eq? @_require "require")) @import.module

; ── references ───────────────────────────────────────────────────────────────────────────────────
(function_call name: (identifier) @name) @reference.call
(function_call name: (dot_index_expression table: (_) @receiver field: (_) @name)) @reference.call
(function_call name: (method_index_expression table: (_) @receiver method: (_) @name)) @reference.call
