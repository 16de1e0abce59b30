(comment) @attached
(type_declaration . (_) @inner .) @around
(const_declaration . (_) @inner .) @around
(var_declaration . (var_spec) @inner .) @around

; ── definitions ──────────────────────────────────────────────────────────────────────────────────
(function_declaration name: (identifier) @name body: (_)? @body) @definition.function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: (_) @owner))
  name: (field_identifier) @name
  body: (_)? @body) @definition.method
(type_spec name: (_) @name type: (struct_type (field_declaration_list) @body)) @definition.struct
(type_spec name: (_) @name type: (interface_type "{" @body)) @definition.interface
(type_spec name: (_) @name) @definition.type
(type_alias name: (_) @name) @definition.type
(method_elem name: (_) @name) @definition.method
(type_spec type: (struct_type (field_declaration_list (field_declaration name: (_) @name) @definition.field)))
(const_spec name: (identifier) @name) @definition.constant
(source_file (var_declaration (var_spec name: (identifier) @name) @definition.constant))
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name) @definition.constant)))

; ── imports ──────────────────────────────────────────────────────────────────────────────────────
(import_spec name: (_)? @alias path: (_) @name) @import.module

; ── references ───────────────────────────────────────────────────────────────────────────────────
(call_expression function: (identifier) @name) @reference.call
(call_expression function: (selector_expression operand: (_) @receiver field: (_) @name)) @reference.call
(composite_literal type: [(type_identifier) (qualified_type)] @name) @reference.new
(composite_literal type: (generic_type type: (_) @name)) @reference.new
(struct_type (field_declaration_list (field_declaration !name type: (_) @name @reference.extends)))
(interface_type (type_elem . [(type_identifier) (qualified_type)] @name @reference.extends .))

; ── written types ────────────────────────────────────────────────────────────────────────────────
(parameter_declaration name: (identifier) @name type: (_) @type) @binding.parameter
(var_spec name: (identifier) @name type: (_) @type) @binding.local
(short_var_declaration
  left: (expression_list . (identifier) @name .)
  right: (expression_list
    . [
      (composite_literal type: (_) @type)
      (unary_expression operand: (composite_literal type: (_) @type))
    ] .)) @binding.local
(short_var_declaration
  left: (expression_list . (identifier) @name)
  right: (expression_list . (call_expression function: [(identifier) (selector_expression)] @type) .)) @binding.local
(type_spec type: (struct_type (field_declaration_list (field_declaration name: (_) @name type: (_) @type) @binding.field)))

; ── names whose type is not written ──────────────────────────────────────────────────────────────
(short_var_declaration left: (expression_list (identifier) @name)) @binding.other
(range_clause left: (expression_list (identifier) @name)) @binding.other
(type_switch_statement alias: (expression_list (identifier) @name)) @binding.other
(var_spec name: (identifier) @name !type) @binding.other
