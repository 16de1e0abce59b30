(comment) @attached
(decorator) @attached
(decorated_definition definition: (_) @inner) @around

; ── definitions ──────────────────────────────────────────────────────────────────────────────────
(class_definition name: (identifier) @name body: (_) @body) @definition.class
(function_definition name: (identifier) @name body: (_) @body) @definition.function
(module (expression_statement (assignment left: (identifier) @name)) @definition.constant)
(class_definition body: (block (expression_statement (assignment left: (identifier) @name)) @definition.field))
(type_alias_statement left: (type (identifier) @name)) @definition.type
(class_definition body: (block . (expression_statement (string) @docstring)))
(function_definition body: (block . (expression_statement (string) @docstring)))

; ── imports ──────────────────────────────────────────────────────────────────────────────────────
(import_statement name: (dotted_name) @name) @import.module
(import_statement name: (aliased_import name: (_) @name alias: (_) @alias)) @import.module
(import_from_statement module_name: (_) @prefix name: (dotted_name) @name) @import
(import_from_statement module_name: (_) @prefix name: (aliased_import name: (_) @name alias: (_) @alias)) @import
(import_from_statement module_name: (_) @name (wildcard_import)) @import.all

; ── references ───────────────────────────────────────────────────────────────────────────────────
(call function: (identifier) @name) @reference.call
(call function: (attribute object: (_) @receiver attribute: (identifier) @name)) @reference.call
(decorator (identifier) @name) @reference.call
(decorator (attribute object: (_) @receiver attribute: (identifier) @name)
  (#not-match? @name "^(setter|getter|deleter)$")) @reference.call
(class_definition superclasses: (argument_list [(identifier) (attribute)] @name @reference.extends))
(class_definition
  superclasses: (argument_list (subscript value: [(identifier) (attribute)] @name @reference.extends)))
(decorator [(identifier) (attribute)] @name @reference.decorates)
(decorator (call function: [(identifier) (attribute)] @name @reference.decorates))
(type [(identifier) (attribute)] @name @reference.type)
(raise_statement . [(identifier) (attribute)] @name @reference.raise)
(raise_statement . (call function: [(identifier) (attribute)] @name @reference.raise))

; ── written types ────────────────────────────────────────────────────────────────────────────────
(typed_parameter . (identifier) @name type: (_) @type) @binding.parameter
(typed_default_parameter name: (identifier) @name type: (_) @type) @binding.parameter
(class_definition
  body: (block (expression_statement (assignment left: (identifier) @name type: (_) @type) @binding.field)))
(assignment left: (identifier) @name type: (_) @type) @binding.local
(assignment left: (identifier) @name right: (call function: [(identifier) (attribute)] @type)) @binding.made
(with_item
  value: (as_pattern
    (call function: [(identifier) (attribute)] @type)
    alias: (as_pattern_target (identifier) @name))) @binding.made
(assignment
  left: (attribute object: (identifier) @_self attribute: (identifier) @name) type: (_) @type
  (#eq? @_self "self")) @binding.declared
(assignment
  left: (attribute object: (identifier) @_self attribute: (identifier) @name)
  right: (call function: [(identifier) (attribute)] @type)
  (#eq? @_self "self")) @binding.field
(assignment
  left: (attribute object: (identifier) @_self attribute: (identifier) @name)
  right: (identifier) @value
  (#eq? @_self "self")) @binding.field

; ── names whose type is not written ──────────────────────────────────────────────────────────────
(assignment left: (identifier) @name !type right: (_) @_given (#not-eq? @_given "None")) @binding.other
(assignment left: [(pattern_list (identifier) @name) (tuple_pattern (identifier) @name)]) @binding.other
(for_statement left: [(identifier) @name (pattern_list (identifier) @name) (tuple_pattern (identifier) @name)]) @binding.other
(for_in_clause left: [(identifier) @name (pattern_list (identifier) @name) (tuple_pattern (identifier) @name)]) @binding.other
(as_pattern alias: (as_pattern_target (identifier) @name)) @binding.other
(named_expression name: (identifier) @name) @binding.other
(parameters (identifier) @name @binding.other)
(default_parameter name: (identifier) @name) @binding.other
(lambda_parameters (identifier) @name @binding.other)
(parameters [(list_splat_pattern (identifier) @name) (dictionary_splat_pattern (identifier) @name)] @binding.other)
(assignment
  left: (attribute object: (identifier) @_self attribute: (identifier) @name) !type
  right: (_) @_given
  (#eq? @_self "self")
  (#not-eq? @_given "None")) @binding.assigned
