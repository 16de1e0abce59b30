(comment) @attached
(haddock) @attached
(pragma) @attached
(declarations (signature) @attached)

; ── definitions ──────────────────────────────────────────────────────────────────────────────────
(header module: (_) @name) @namespace
(declarations (function name: (variable) @name match: (_)? @body) @definition.function)
(declarations (bind name: (variable) @name match: (_)? @body) @definition.constant)
(data_type name: (_) @name) @definition.type
(newtype name: (_) @name) @definition.type
(type_synonym name: (_) @name) @definition.type
(class name: (_) @name declarations: (_)? @body) @definition.class
(class_declarations declaration: (signature name: (variable) @name) @definition.method)
(instance name: (_) @owner declarations: (_)? @body) @scope
(instance_declarations declaration: (function name: (variable) @name) @definition.method)
(instance_declarations declaration: (bind name: (variable) @name) @definition.method)

; ── imports ──────────────────────────────────────────────────────────────────────────────────────
(import module: (_) @name alias: (_)? @alias) @import.module

; ── references ───────────────────────────────────────────────────────────────────────────────────
(apply function: (variable) @name) @reference.call
(apply function: (qualified module: (_) @receiver id: (variable) @name)) @reference.call
