[(line_comment) (block_comment) (attribute_item)] @attached

; ── definitions ──────────────────────────────────────────────────────────────────────────────────
(function_item name: (_) @name body: (_) @body) @definition.function
(function_signature_item name: (_) @name) @definition.function
(struct_item name: (_) @name body: (_)? @body) @definition.struct
(union_item name: (_) @name body: (_) @body) @definition.struct
(enum_item name: (_) @name body: (_) @body) @definition.enum
(trait_item name: (_) @name body: (_) @body) @definition.trait
(mod_item name: (_) @name body: (_) @body) @definition.module
(impl_item type: (_) @owner body: (_) @body) @scope
(enum_variant name: (_) @name) @definition.constant
(field_declaration name: (_) @name) @definition.field
(const_item name: (_) @name) @definition.constant
(static_item name: (_) @name) @definition.constant
(type_item name: (_) @name) @definition.type
(associated_type name: (_) @name) @definition.type
(macro_definition name: (_) @name) @definition.macro

; ── imports ──────────────────────────────────────────────────────────────────────────────────────
(use_declaration argument: (_) @name) @import.tree

; ── references ───────────────────────────────────────────────────────────────────────────────────
(call_expression function: (identifier) @name) @reference.call
(call_expression function: (field_expression value: (_) @receiver field: (_) @name)) @reference.call
(call_expression function: (scoped_identifier path: (_) @receiver name: (_) @name)) @reference.call
(call_expression function: (generic_function function: (identifier) @name)) @reference.call
(call_expression
  function: (generic_function function: (scoped_identifier path: (_) @receiver name: (_) @name))) @reference.call
(call_expression
  function: (generic_function function: (field_expression value: (_) @receiver field: (_) @name))) @reference.call
(macro_invocation macro: [(identifier) (scoped_identifier)] @name) @reference.call
(struct_expression name: (_) @name) @reference.new
(impl_item trait: [(type_identifier) (scoped_type_identifier)] @name @reference.implements)
(impl_item trait: (generic_type type: (_) @name @reference.implements))
(trait_item bounds: (trait_bounds [(type_identifier) (scoped_type_identifier)] @name @reference.extends))
(attribute_item (attribute [(identifier) (scoped_identifier)] @name @reference.decorates))

; ── written types ────────────────────────────────────────────────────────────────────────────────
(parameter pattern: (identifier) @name type: (_) @type) @binding.parameter
(parameter pattern: (mut_pattern (identifier) @name) type: (_) @type) @binding.parameter
(let_declaration pattern: (identifier) @name type: (_) @type) @binding.local
(let_declaration pattern: (identifier) @name value: (struct_expression name: (_) @type)) @binding.made
(field_declaration name: (_) @name type: (_) @type) @binding.field

; ── names whose type is not written ──────────────────────────────────────────────────────────────
(let_declaration pattern: (identifier) @name !type) @binding.other
(let_declaration pattern: (tuple_pattern (identifier) @name)) @binding.other
(for_expression pattern: (identifier) @name) @binding.other
(closure_parameters (identifier) @name @binding.other)
(tuple_struct_pattern (identifier) @name) @binding.other
