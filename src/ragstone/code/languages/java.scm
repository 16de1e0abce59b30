[(line_comment) (block_comment) (marker_annotation) (annotation)] @attached
(package_declaration [(identifier) (scoped_identifier)] @namespace)

; ── definitions ──────────────────────────────────────────────────────────────────────────────────
(class_declaration name: (_) @name body: (_) @body) @definition.class
(record_declaration name: (_) @name body: (_) @body) @definition.class
(interface_declaration name: (_) @name body: (_) @body) @definition.interface
(annotation_type_declaration name: (_) @name body: (_) @body) @definition.interface
(enum_declaration name: (_) @name body: (_) @body) @definition.enum
(method_declaration name: (_) @name body: (_)? @body) @definition.method
(annotation_type_element_declaration name: (_) @name) @definition.method
(constructor_declaration name: (_) @name body: (_) @body) @definition.constructor
(compact_constructor_declaration name: (_) @name body: (_) @body) @definition.constructor
(field_declaration declarator: (variable_declarator name: (_) @name)) @definition.field
(record_declaration parameters: (formal_parameters (formal_parameter name: (_) @name) @definition.field))
(constant_declaration declarator: (variable_declarator name: (_) @name)) @definition.constant
(enum_constant name: (_) @name) @definition.constant

; ── imports ──────────────────────────────────────────────────────────────────────────────────────
(import_declaration (scoped_identifier) @name) @import
(import_declaration (scoped_identifier) @name (asterisk)) @import.all

; ── references ───────────────────────────────────────────────────────────────────────────────────
(method_invocation !object name: (_) @name) @reference.call
(method_invocation object: (_) @receiver name: (_) @name) @reference.call
(object_creation_expression type: [(type_identifier) (scoped_type_identifier)] @name) @reference.new
(object_creation_expression type: (generic_type . (_) @name)) @reference.new
(throw_statement
  (object_creation_expression type: [(type_identifier) (scoped_type_identifier)] @name @reference.raise))
(superclass [(type_identifier) (scoped_type_identifier)] @name @reference.extends)
(superclass (generic_type . (_) @name @reference.extends))
(super_interfaces (type_list [(type_identifier) (scoped_type_identifier)] @name @reference.implements))
(super_interfaces (type_list (generic_type . (_) @name @reference.implements)))
(extends_interfaces (type_list [(type_identifier) (scoped_type_identifier)] @name @reference.extends))
(extends_interfaces (type_list (generic_type . (_) @name @reference.extends)))
(marker_annotation name: (_) @name @reference.decorates)
(annotation name: (_) @name @reference.decorates)

; ── written types ────────────────────────────────────────────────────────────────────────────────
(record_declaration
  parameters: (formal_parameters (formal_parameter type: (_) @type name: (_) @name) @binding.field))
(formal_parameter type: (_) @type name: (_) @name) @binding.parameter
(local_variable_declaration
  type: [(type_identifier) (scoped_type_identifier) (generic_type) (array_type)] @type
  declarator: (variable_declarator name: (_) @name)) @binding.local
(field_declaration type: (_) @type declarator: (variable_declarator name: (_) @name)) @binding.field
(catch_formal_parameter (catch_type) @type name: (_) @name) @binding.local
(enhanced_for_statement type: (_) @type name: (_) @name) @binding.local
(resource type: (_) @type name: (_) @name) @binding.local

; ── names whose type is not written ──────────────────────────────────────────────────────────────
(lambda_expression parameters: (identifier) @name) @binding.other
(inferred_parameters (identifier) @name @binding.other)
