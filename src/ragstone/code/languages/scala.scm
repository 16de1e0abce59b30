(comment) @attached
(block_comment) @attached

; ── definitions ──────────────────────────────────────────────────────────────────────────────────
(package_clause name: (_) @name) @namespace
(class_definition name: (_) @name body: (_)? @body) @definition.class
(object_definition name: (_) @name body: (_)? @body) @definition.class
(package_object name: (_) @name body: (_)? @body) @definition.class
(trait_definition name: (_) @name body: (_)? @body) @definition.trait
(enum_definition name: (_) @name body: (_)? @body) @definition.enum
(given_definition name: (_) @name body: (_)? @body) @definition.constant
(type_definition name: (_) @name) @definition.type
(template_body (function_definition name: (_) @name body: (_)? @body) @definition.method)
(template_body (function_declaration name: (_) @name) @definition.method)
(function_definition name: (_) @name body: (_)? @body) @definition.function
(template_body (val_definition pattern: (identifier) @name) @definition.field)
(compilation_unit (val_definition pattern: (identifier) @name) @definition.constant)

; ── references ───────────────────────────────────────────────────────────────────────────────────
(call_expression function: (identifier) @name) @reference.call
(call_expression function: (field_expression value: (_) @receiver field: (_) @name)) @reference.call
(extends_clause type: (type_identifier) @name @reference.extends)
(extends_clause type: (generic_type type: (type_identifier) @name) @reference.extends)
