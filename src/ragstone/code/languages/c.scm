(comment) @attached

; ── definitions ──────────────────────────────────────────────────────────────────────────────────
(function_definition
  declarator: [
    (function_declarator declarator: (identifier) @name)
    (_ (function_declarator declarator: (identifier) @name))
    (_ (_ (function_declarator declarator: (identifier) @name)))
  ]
  body: (_) @body) @definition.function
(declaration
  declarator: [
    (function_declarator declarator: (identifier) @name)
    (_ (function_declarator declarator: (identifier) @name))
    (_ (_ (function_declarator declarator: (identifier) @name)))
  ]) @definition.prototype
(struct_specifier name: (_) @name body: (_) @body) @definition.struct
(union_specifier name: (_) @name body: (_) @body) @definition.struct
(enum_specifier name: (_) @name body: (_) @body) @definition.enum
(type_definition type: (struct_specifier !name body: (_) @body) declarator: (type_identifier) @name) @definition.struct
(type_definition type: (enum_specifier !name body: (_) @body) declarator: (type_identifier) @name) @definition.enum
(type_definition declarator: (type_identifier) @name) @definition.type
(type_definition
  declarator: (function_declarator
    declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @name)))) @definition.type
(enumerator name: (_) @name) @definition.constant
(field_declaration
  declarator: [
    (field_identifier) @name
    (array_declarator declarator: (field_identifier) @name)
    (pointer_declarator declarator: (field_identifier) @name)
    (pointer_declarator declarator: (_ declarator: (field_identifier) @name))
    (function_declarator
      declarator: (parenthesized_declarator (pointer_declarator declarator: (field_identifier) @name)))
  ]) @definition.field
(translation_unit
  (declaration
    declarator: [
      (identifier) @name
      (init_declarator declarator: (identifier) @name)
      (_ declarator: (pointer_declarator declarator: (identifier) @name))
      (_ declarator: (array_declarator declarator: (identifier) @name))
      (array_declarator declarator: (identifier) @name)
      (pointer_declarator declarator: (identifier) @name)
    ]) @definition.constant)
(preproc_def name: (_) @name) @definition.macro
(preproc_function_def name: (_) @name) @definition.macro

; ── imports ──────────────────────────────────────────────────────────────────────────────────────
(preproc_include path: [(string_literal) (system_lib_string)] @name) @import.module

; ── references ───────────────────────────────────────────────────────────────────────────────────
(call_expression function: (identifier) @name) @reference.call
(call_expression function: (field_expression argument: (_) @receiver field: (_) @name)) @reference.call

; ── written types ────────────────────────────────────────────────────────────────────────────────
(parameter_declaration type: (_) @type declarator: (identifier) @name) @binding.parameter
(parameter_declaration type: (_) @type declarator: (_ (identifier) @name)) @binding.parameter
(declaration type: (_) @type declarator: (identifier) @name) @binding.local
(declaration type: (_) @type declarator: (pointer_declarator declarator: (identifier) @name)) @binding.local
(declaration type: (_) @type declarator: (init_declarator declarator: (identifier) @name)) @binding.local
(declaration
  type: (_) @type
  declarator: (init_declarator declarator: (pointer_declarator declarator: (identifier) @name))) @binding.local
(field_declaration type: (_) @type declarator: (field_identifier) @name) @binding.field
(field_declaration type: (_) @type declarator: (pointer_declarator declarator: (field_identifier) @name)) @binding.field
