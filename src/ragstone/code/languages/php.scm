(comment) @attached
(attribute_list) @attached
(namespace_definition name: (namespace_name) @namespace)

; ── definitions ──────────────────────────────────────────────────────────────────────────────────
(class_declaration name: (name) @name body: (_) @body) @definition.class
(interface_declaration name: (name) @name body: (_) @body) @definition.interface
(trait_declaration name: (name) @name body: (_) @body) @definition.trait
(enum_declaration name: (name) @name body: (_) @body) @definition.enum
(function_definition name: (name) @name body: (_) @body) @definition.function
(method_declaration name: (name) @name body: (_)? @body) @definition.method
(property_declaration (property_element name: (variable_name (name) @name))) @definition.field
(property_promotion_parameter name: (variable_name (name) @name)) @definition.field
(const_declaration (const_element . (name) @name)) @definition.constant
(enum_case name: (name) @name) @definition.constant
(expression_statement
  (function_call_expression
    function: (name) @_define
    arguments: (arguments . (argument (string (string_content) @name))))
  (#eq? @_define "define")) @definition.constant

; ── imports ──────────────────────────────────────────────────────────────────────────────────────
(namespace_use_declaration
  (namespace_use_clause !type . [(name) (qualified_name)] @name alias: (name)? @alias)) @import
(namespace_use_declaration
  (namespace_use_clause type: "function" . [(name) (qualified_name)] @name alias: (name)? @alias)) @import.function
(namespace_use_declaration
  (namespace_use_clause type: "const" . [(name) (qualified_name)] @name alias: (name)? @alias)) @import.constant
(namespace_use_declaration
  (namespace_name) @prefix
  body: (namespace_use_group
    (namespace_use_clause !type . [(name) (qualified_name)] @name alias: (name)? @alias))) @import
(namespace_use_declaration
  (namespace_name) @prefix
  body: (namespace_use_group
    (namespace_use_clause type: "function" . (_) @name alias: (name)? @alias))) @import.function
(namespace_use_declaration
  type: "function"
  (namespace_name) @prefix
  body: (namespace_use_group
    (namespace_use_clause . (_) @name alias: (name)? @alias))) @import.function

; ── references ───────────────────────────────────────────────────────────────────────────────────
(function_call_expression function: [(name) (qualified_name)] @name) @reference.call
(member_call_expression object: (_) @receiver name: (name) @name) @reference.call
(nullsafe_member_call_expression object: (_) @receiver name: (name) @name) @reference.call
(scoped_call_expression scope: (_) @receiver name: (name) @name) @reference.call
(object_creation_expression [(name) (qualified_name)] @name) @reference.new
(function_call_expression function: (name) @_function
  (#match? @_function "^throw_(if|unless)$")
  arguments: (arguments (argument
    (class_constant_access_expression . [(name) (qualified_name)] @name @reference.raise . (name)))))
(throw_expression (object_creation_expression [(name) (qualified_name)] @name @reference.raise))
(class_declaration (base_clause [(name) (qualified_name)] @name @reference.extends))
(anonymous_class (base_clause [(name) (qualified_name)] @name @reference.type)) @scope
(interface_declaration (base_clause [(name) (qualified_name)] @name @reference.extends))
(class_interface_clause [(name) (qualified_name)] @name @reference.implements)
(use_declaration [(name) (qualified_name)] @name @reference.uses_trait)
(attribute [(name) (qualified_name)] @name @reference.decorates)
(named_type [(name) (qualified_name)] @name @reference.type)
(class_constant_access_expression . [(name) (qualified_name)] @name @reference.type)

; ── written types ────────────────────────────────────────────────────────────────────────────────
(simple_parameter type: (_) @type name: (variable_name) @name) @binding.parameter
(property_promotion_parameter type: (_) @type name: (variable_name) @name) @binding.parameter
(property_promotion_parameter type: (_) @type name: (variable_name (name) @name)) @binding.declared
(property_declaration type: (_) @type (property_element name: (variable_name (name) @name))) @binding.field
(catch_clause type: (_) @type name: (variable_name) @name) @binding.local
(assignment_expression
  left: (variable_name) @name
  right: (object_creation_expression [(name) (qualified_name)] @type)) @binding.local
(assignment_expression
  left: (member_access_expression object: (variable_name) @_this name: (name) @name)
  right: (object_creation_expression [(name) (qualified_name)] @type)
  (#eq? @_this "$this")) @binding.field
(assignment_expression
  left: (member_access_expression object: (variable_name) @_this name: (name) @name)
  right: (variable_name) @value
  (#eq? @_this "$this")) @binding.field
(assignment_expression
  left: (variable_name) @name
  right: [
    (member_call_expression) (nullsafe_member_call_expression) (scoped_call_expression) (function_call_expression)
  ] @type) @binding.made

; ── names whose type is not written ──────────────────────────────────────────────────────────────
(assignment_expression left: (variable_name) @name right: (_)) @binding.other
(assignment_expression left: (list_literal (variable_name) @name)) @binding.other
(simple_parameter !type name: (variable_name) @name) @binding.other
(foreach_statement (_) . (variable_name) @name) @binding.other
(foreach_statement (pair (_) (variable_name) @name)) @binding.other
(assignment_expression
  left: (member_access_expression object: (variable_name) @_this name: (name) @name)
  right: (_) @_given
  (#eq? @_this "$this")
  (#not-eq? @_given "null")) @binding.assigned
