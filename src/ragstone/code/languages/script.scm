; Captures that JavaScript and TypeScript share.
(comment) @attached
(decorator) @attached
(export_statement declaration: (_) @inner) @around

; ── definitions ──────────────────────────────────────────────────────────────────────────────────
(function_declaration name: (identifier) @name body: (_) @body) @definition.function
(generator_function_declaration name: (identifier) @name body: (_) @body) @definition.function
(method_definition name: (_) @name body: (_) @body) @definition.method
(lexical_declaration
  (variable_declarator
    name: (identifier) @name
    value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)])) @definition.function
(variable_declaration
  (variable_declarator
    name: (identifier) @name
    value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)])) @definition.function
(lexical_declaration (variable_declarator name: (identifier) @name value: (class body: (_) @body))) @definition.class
(expression_statement
  (assignment_expression
    left: (member_expression object: (_) @owner property: (property_identifier) @name)
    right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)])) @definition.function
(expression_statement
  (assignment_expression
    left: (member_expression object: (_) @owner property: (property_identifier) @name)
    right: (class body: (_) @body))) @definition.class
(program (lexical_declaration (variable_declarator name: (identifier) @name)) @definition.constant)
(program (variable_declaration (variable_declarator name: (identifier) @name)) @definition.constant)
(program
  (export_statement
    declaration: (lexical_declaration (variable_declarator name: (identifier) @name)) @definition.constant))

; ── imports ──────────────────────────────────────────────────────────────────────────────────────
(import_statement
  (import_clause (named_imports (import_specifier name: (_) @name alias: (_)? @alias)))
  source: (string) @prefix) @import
(import_statement (import_clause (identifier) @alias) source: (string) @prefix) @import.default
(import_statement (import_clause (namespace_import (identifier) @alias)) source: (string) @name) @import.module
(import_statement . source: (string) @name) @import.module
(export_statement "*" source: (string) @name) @import.all
(export_statement (namespace_export (_) @alias) source: (string) @name) @import.module
(export_statement (export_clause (export_specifier name: (_) @name alias: (_)? @alias)) source: (string) @prefix) @import
(variable_declarator
  name: (identifier) @alias
  value: (call_expression function: (identifier) @_require arguments: (arguments . (string) @name .))
  (#eq? @_require "require")) @import.module
(variable_declarator
  name: (object_pattern (shorthand_property_identifier_pattern) @name)
  value: (call_expression function: (identifier) @_require arguments: (arguments . (string) @prefix .))
  (#eq? @_require "require")) @import
(variable_declarator
  name: (object_pattern (pair_pattern key: (property_identifier) @name value: (identifier) @alias))
  value: (call_expression function: (identifier) @_require arguments: (arguments . (string) @prefix .))
  (#eq? @_require "require")) @import

; ── references ───────────────────────────────────────────────────────────────────────────────────
(call_expression function: (identifier) @name) @reference.call
(call_expression function: (member_expression object: (_) @receiver property: (_) @name)) @reference.call
(decorator (identifier) @name) @reference.call
(decorator (member_expression object: (_) @receiver property: (_) @name)) @reference.call
(new_expression constructor: [(identifier) (member_expression)] @name) @reference.new
(throw_statement (new_expression constructor: [(identifier) (member_expression)] @name @reference.raise))
(decorator [(identifier) (member_expression)] @name @reference.decorates)
(decorator (call_expression function: [(identifier) (member_expression)] @name @reference.decorates))

; ── written types ────────────────────────────────────────────────────────────────────────────────
(variable_declarator
  name: (identifier) @name
  value: (new_expression constructor: [(identifier) (member_expression)] @type)) @binding.made
(assignment_expression
  left: (member_expression object: (this) property: (_) @name)
  right: (new_expression constructor: [(identifier) (member_expression)] @type)) @binding.field
(assignment_expression
  left: (member_expression object: (this) property: (_) @name)
  right: (identifier) @value) @binding.field
(variable_declarator
  name: (identifier) @name
  value: (call_expression function: [(identifier) (member_expression)] @type)) @binding.made

; ── names whose type is not written ──────────────────────────────────────────────────────────────
(variable_declarator name: (identifier) @name value: (_)) @binding.other
(variable_declarator name: (object_pattern (shorthand_property_identifier_pattern) @name)) @binding.other
(variable_declarator name: (object_pattern (pair_pattern value: (identifier) @name))) @binding.other
(variable_declarator name: (array_pattern (identifier) @name)) @binding.other
(assignment_expression left: (identifier) @name right: (_)) @binding.other
(arrow_function parameter: (identifier) @name) @binding.other
(for_in_statement left: (identifier) @name) @binding.other
(catch_clause parameter: (identifier) @name) @binding.other
(assignment_expression
  left: (member_expression object: (this) property: (_) @name)
  right: (_) @_given
  (#not-any-of? @_given "null" "undefined")) @binding.assigned
