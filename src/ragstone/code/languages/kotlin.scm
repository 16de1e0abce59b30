[(line_comment) (block_comment) (annotation)] @attached
(package_header (qualified_identifier) @namespace)

; ── definitions ──────────────────────────────────────────────────────────────────────────────────
(class_declaration "interface" name: (_) @name (class_body)? @body) @definition.interface
(class_declaration name: (_) @name (enum_class_body) @body) @definition.enum
(class_declaration "class" name: (_) @name (class_body)? @body) @definition.class
(object_declaration name: (_) @name (class_body)? @body) @definition.class
(companion_object) @scope
(function_declaration (user_type) @owner . name: (_) @name (function_body)? @body) @definition.function
(function_declaration name: (_) @name (function_body)? @body) @definition.function
(secondary_constructor "constructor" @name (block)? @body) @definition.constructor
(source_file (property_declaration (variable_declaration . (identifier) @name)) @definition.constant)
(class_body (property_declaration (variable_declaration . (identifier) @name)) @definition.field)
(enum_class_body (property_declaration (variable_declaration . (identifier) @name)) @definition.field)
(class_parameter ["val" "var"] (identifier) @name) @definition.field
(enum_entry (identifier) @name) @definition.constant
(type_alias type: (identifier) @name) @definition.type

; ── imports ──────────────────────────────────────────────────────────────────────────────────────
(import (qualified_identifier) @name (identifier)? @alias) @import
(import (qualified_identifier) @name "*") @import.all

; ── references ───────────────────────────────────────────────────────────────────────────────────
(call_expression . (identifier) @name) @reference.call
(call_expression . (navigation_expression . (_) @receiver (identifier) @name .)) @reference.call
(delegation_specifier (constructor_invocation (user_type) @name) @reference.extends)
(delegation_specifier (user_type) @name @reference.implements)
(delegation_specifier (explicit_delegation (user_type) @name @reference.implements))
(annotation (user_type . (identifier) @name @reference.decorates))
(annotation (constructor_invocation (user_type . (identifier) @name @reference.decorates)))

; ── written types ────────────────────────────────────────────────────────────────────────────────
(class_parameter
  ["val" "var"] (identifier) @name . [(user_type) (nullable_type) (function_type)] @type) @binding.field
(parameter . (identifier) @name . (_) @type) @binding.parameter
(function_declaration
  (function_body (block (property_declaration
    (variable_declaration . (identifier) @name [(user_type) (nullable_type)] @type)) @binding.local)))
(property_declaration
  (variable_declaration . (identifier) @name .) (call_expression . (identifier) @type)) @binding.local
(class_body
  (property_declaration
    (variable_declaration . (identifier) @name [(user_type) (nullable_type)] @type)) @binding.field)
(class_body
  (property_declaration
    (variable_declaration . (identifier) @name .) (call_expression . (identifier) @type)) @binding.field)

; ── names whose type is not written ──────────────────────────────────────────────────────────────
(property_declaration (variable_declaration . (identifier) @name .)) @binding.other
(for_statement (variable_declaration . (identifier) @name .)) @binding.other
(lambda_parameters (variable_declaration . (identifier) @name .) @binding.other)
