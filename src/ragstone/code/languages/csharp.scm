[(comment) (attribute_list)] @attached
(namespace_declaration name: (_) @namespace)
(file_scoped_namespace_declaration name: (_) @namespace)

; ── definitions ──────────────────────────────────────────────────────────────────────────────────
(class_declaration name: (_) @name body: (_)? @body) @definition.class
(record_declaration name: (_) @name body: (_)? @body) @definition.class
(struct_declaration name: (_) @name body: (_)? @body) @definition.struct
(interface_declaration name: (_) @name body: (_)? @body) @definition.interface
(enum_declaration name: (_) @name body: (_)? @body) @definition.enum
(enum_member_declaration name: (_) @name) @definition.constant
(delegate_declaration name: (_) @name) @definition.type
(method_declaration name: (_) @name body: (_)? @body) @definition.method
(constructor_declaration name: (_) @name body: (_)? @body) @definition.constructor
(local_function_statement name: (_) @name body: (_)? @body) @definition.function
(indexer_declaration "this" @name) @definition.method
(operator_declaration "operator" @name body: (_)? @body) @definition.method
(property_declaration name: (_) @name accessors: (_)? @body) @definition.field
(field_declaration (variable_declaration (variable_declarator name: (_) @name))) @definition.field
(event_field_declaration (variable_declaration (variable_declarator name: (_) @name))) @definition.field
(record_declaration (parameter_list (parameter name: (_) @name) @definition.field))

; ── imports ──────────────────────────────────────────────────────────────────────────────────────
(using_directive name: (identifier) @alias (_) @name .) @import
(using_directive !name . [(identifier) (qualified_name)] @name .) @import.all

; ── references ───────────────────────────────────────────────────────────────────────────────────
(invocation_expression function: (identifier) @name) @reference.call
(invocation_expression function: (generic_name . (identifier) @name)) @reference.call
(invocation_expression
  function: (member_access_expression expression: [(_) "this" "base"] @receiver name: (identifier) @name)) @reference.call
(invocation_expression
  function: (member_access_expression
    expression: [(_) "this" "base"] @receiver name: (generic_name . (identifier) @name))) @reference.call
(invocation_expression
  function: (conditional_access_expression
    condition: (_) @receiver (member_binding_expression name: (_) @name))) @reference.call
(object_creation_expression type: [(identifier) (qualified_name)] @name) @reference.new
(object_creation_expression type: (generic_name . (identifier) @name)) @reference.new
(throw_statement (object_creation_expression type: [(identifier) (qualified_name)] @name @reference.raise))
(throw_expression (object_creation_expression type: [(identifier) (qualified_name)] @name @reference.raise))
(base_list [(identifier) (qualified_name)] @name @reference.extends)
(base_list (generic_name . (identifier) @name @reference.extends))
(base_list (primary_constructor_base_type type: (_) @name @reference.extends))
(attribute name: (_) @name @reference.decorates)

; ── written types ────────────────────────────────────────────────────────────────────────────────
(record_declaration (parameter_list (parameter type: (_) @type name: (_) @name) @binding.field))
(parameter type: (_) @type name: (_) @name) @binding.parameter
(property_declaration type: (_) @type name: (_) @name) @binding.field
(field_declaration
  (variable_declaration type: (_) @type (variable_declarator name: (_) @name))) @binding.field
(local_declaration_statement
  (variable_declaration
    type: [(identifier) (qualified_name) (generic_name) (nullable_type) (array_type)] @type
    (variable_declarator name: (_) @name))) @binding.local
(local_declaration_statement
  (variable_declaration
    type: (implicit_type)
    (variable_declarator name: (_) @name (object_creation_expression type: (_) @type)))) @binding.local

; ── names whose type is not written ──────────────────────────────────────────────────────────────
(variable_declaration type: (implicit_type) (variable_declarator name: (_) @name)) @binding.other
(lambda_expression parameters: (implicit_parameter) @name) @binding.other
(parameter !type name: (_) @name) @binding.other
(foreach_statement left: (identifier) @name) @binding.other
