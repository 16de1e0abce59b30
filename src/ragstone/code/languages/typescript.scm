; ── definitions ──────────────────────────────────────────────────────────────────────────────────
(class_declaration name: (_) @name body: (_) @body) @definition.class
(abstract_class_declaration name: (_) @name body: (_) @body) @definition.class
(interface_declaration name: (_) @name body: (_) @body) @definition.interface
(enum_declaration name: (_) @name body: (_) @body) @definition.enum
(enum_body name: (_) @name @definition.constant)
(enum_body (enum_assignment name: (_) @name) @definition.constant)
(type_alias_declaration name: (_) @name) @definition.type
(internal_module name: (_) @name body: (_) @body) @definition.module
(module name: (_) @name body: (_) @body) @definition.module
(function_signature name: (_) @name) @definition.function
(method_signature name: (_) @name) @definition.method
(abstract_method_signature name: (_) @name) @definition.method
(public_field_definition name: (_) @name value: (arrow_function body: (_) @body)) @definition.method
(public_field_definition name: (_) @name) @definition.field
(interface_body (property_signature name: (_) @name) @definition.field)
(required_parameter (accessibility_modifier) pattern: (identifier) @name) @definition.field

(import_statement (import_require_clause (identifier) @alias source: (string) @name)) @import.module

; ── references ───────────────────────────────────────────────────────────────────────────────────
(extends_clause value: [(identifier) (member_expression)] @name @reference.extends)
(extends_clause value: (call_expression function: (_) @name @reference.extends))
(implements_clause [(type_identifier) (nested_type_identifier)] @name @reference.implements)
(implements_clause (generic_type name: (_) @name @reference.implements))
(extends_type_clause type: [(type_identifier) (nested_type_identifier)] @name @reference.extends)
(extends_type_clause type: (generic_type name: (_) @name @reference.extends))

; ── written types ────────────────────────────────────────────────────────────────────────────────
(required_parameter
  (accessibility_modifier) pattern: (identifier) @name type: (type_annotation (_) @type)) @binding.declared
(required_parameter pattern: (identifier) @name type: (type_annotation (_) @type)) @binding.parameter
(optional_parameter pattern: (identifier) @name type: (type_annotation (_) @type)) @binding.parameter
(public_field_definition name: (_) @name type: (type_annotation (_) @type)) @binding.field
(public_field_definition name: (_) @name value: (new_expression constructor: (_) @type)) @binding.field
(interface_body (property_signature name: (_) @name type: (type_annotation (_) @type)) @binding.field)
(variable_declarator name: (identifier) @name type: (type_annotation (_) @type)) @binding.local
(required_parameter pattern: [(identifier) @name (rest_pattern (identifier) @name)] !type) @binding.other
(optional_parameter pattern: (identifier) @name !type) @binding.other
