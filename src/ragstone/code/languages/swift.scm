[(comment) (multiline_comment) (attribute)] @attached

; ── definitions ──────────────────────────────────────────────────────────────────────────────────
(class_declaration declaration_kind: "struct" name: (_) @name body: (_) @body) @definition.struct
(class_declaration declaration_kind: "enum" name: (_) @name body: (_) @body) @definition.enum
(class_declaration declaration_kind: ["class" "actor"] name: (_) @name body: (_) @body) @definition.class
(class_declaration declaration_kind: "extension" name: (_) @owner body: (_) @body) @scope
(protocol_declaration name: (_) @name body: (_) @body) @definition.interface
(function_declaration name: (simple_identifier) @name body: (_) @body) @definition.function
(function_declaration "func" . (_) @name body: (_) @body) @definition.function
(protocol_function_declaration name: (simple_identifier) @name) @definition.function
(init_declaration "init" @name body: (_)? @body) @definition.constructor
(deinit_declaration "deinit" @name body: (_) @body) @definition.method
(subscript_declaration "subscript" @name (computed_property) @body) @definition.method
(enum_entry name: (simple_identifier) @name) @definition.constant
(class_body
  (property_declaration
    name: (pattern bound_identifier: (_) @name) computed_value: (_)? @body) @definition.field)
(enum_class_body
  (property_declaration
    name: (pattern bound_identifier: (_) @name) computed_value: (_)? @body) @definition.field)
(protocol_property_declaration name: (pattern bound_identifier: (_) @name)) @definition.field
(source_file (property_declaration name: (pattern bound_identifier: (_) @name)) @definition.constant)
(typealias_declaration name: (type_identifier) @name) @definition.type
(associatedtype_declaration name: (type_identifier) @name) @definition.type

; ── imports ──────────────────────────────────────────────────────────────────────────────────────
(import_declaration (identifier) @name) @import.module

; ── references ───────────────────────────────────────────────────────────────────────────────────
(call_expression . (simple_identifier) @name) @reference.call
(call_expression
  . (navigation_expression
    target: (_) @receiver suffix: (navigation_suffix suffix: (simple_identifier) @name))) @reference.call
(inheritance_specifier inherits_from: (user_type) @name @reference.extends)
(attribute (user_type) @name @reference.decorates)

; ── written types ────────────────────────────────────────────────────────────────────────────────
(parameter
  name: (simple_identifier) @name
  . [(user_type) (optional_type) (array_type) (dictionary_type)] @type) @binding.parameter
(class_body
  (property_declaration
    name: (pattern bound_identifier: (_) @name) (type_annotation (_) @type)) @binding.field)
(enum_class_body
  (property_declaration
    name: (pattern bound_identifier: (_) @name) (type_annotation (_) @type)) @binding.field)
(protocol_property_declaration
  name: (pattern bound_identifier: (_) @name) (type_annotation (_) @type)) @binding.field
(property_declaration
  name: (pattern bound_identifier: (_) @name) (type_annotation (_) @type)) @binding.local
(property_declaration
  name: (pattern bound_identifier: (_) @name)
  value: (call_expression . (simple_identifier) @type)) @binding.local

; ── names whose type is not written ──────────────────────────────────────────────────────────────
(property_declaration name: (pattern bound_identifier: (_) @name)) @binding.other
(for_statement item: (pattern bound_identifier: (_) @name)) @binding.other
(for_statement item: (pattern (pattern (simple_identifier) @name))) @binding.other
(lambda_parameter name: (simple_identifier) @name) @binding.other
(if_statement bound_identifier: (_) @name) @binding.other
(guard_statement bound_identifier: (_) @name) @binding.other
(while_statement bound_identifier: (_) @name) @binding.other
(switch_pattern (pattern (pattern bound_identifier: (_) @name))) @binding.other
(catch_block error: (pattern (pattern bound_identifier: (_) @name))) @binding.other
(assignment target: (directly_assignable_expression . (simple_identifier) @name .)) @binding.other
