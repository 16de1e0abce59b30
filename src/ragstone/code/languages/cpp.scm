; C++ in addition to C.
(template_declaration (_) @inner .) @around

; ── definitions ──────────────────────────────────────────────────────────────────────────────────
(namespace_definition name: (_) @name body: (_) @body) @definition.module
(class_specifier name: (_) @name body: (_) @body) @definition.class
(function_definition
  declarator: [
    (function_declarator
      declarator: [(field_identifier) (destructor_name) (operator_name) (qualified_identifier)] @name)
    (_ (function_declarator
      declarator: [(field_identifier) (destructor_name) (operator_name) (qualified_identifier)] @name))
    (_ (_ (function_declarator
      declarator: [(field_identifier) (destructor_name) (operator_name) (qualified_identifier)] @name)))
  ]
  body: (_)? @body) @definition.function
(function_definition declarator: (function_declarator declarator: (identifier) @name)) @definition.function
(field_declaration_list
  [
    (field_declaration
      declarator: [
        (function_declarator declarator: [(field_identifier) (operator_name)] @name)
        (_ (function_declarator declarator: [(field_identifier) (operator_name)] @name))
      ])
    (declaration declarator: (function_declarator declarator: [(destructor_name) (operator_name)] @name))
  ] @definition.prototype)
(alias_declaration name: (_) @name) @definition.type
(concept_definition name: (_) @name) @definition.type
(namespace_definition
  body: (declaration_list
    (declaration declarator: (init_declarator declarator: (identifier) @name)) @definition.constant))

; ── references ───────────────────────────────────────────────────────────────────────────────────
(call_expression function: (qualified_identifier scope: (_) @receiver name: (identifier) @name)) @reference.call
(call_expression function: (template_function name: (identifier) @name)) @reference.call
(new_expression type: (_) @name) @reference.new
(base_class_clause [(type_identifier) (qualified_identifier)] @name @reference.extends)
(base_class_clause (template_type name: (_) @name @reference.extends))

; ── written types ────────────────────────────────────────────────────────────────────────────────
(init_declarator
  declarator: [(identifier) @name (pointer_declarator declarator: (identifier) @name)]
  value: (new_expression type: (_) @type)) @binding.made
(optional_parameter_declaration type: (_) @type declarator: (identifier) @name) @binding.parameter
