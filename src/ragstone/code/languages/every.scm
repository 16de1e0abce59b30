; Captures of all languages, and the vocabulary of all query files.
;
;   @definition.KIND     a definition, with @name, and @body if one follows the signature
;   @owner               the type of a definition that is written outside of it (Go's receivers)
;   @scope               a block that contains definitions but is none, with @owner (Rust's impl, Swift's extension)
;   @around              a statement that wraps a definition (export), with the definition as @inner
;   @attached            a comment, decorator or attribute; it belongs to the definition below it
;   @docstring           a text inside a definition that describes it
;   @namespace           the namespace or package of the file
;   @import, @import.KIND     an import with @name, @alias, and @prefix if the name continues it
;   @reference.KIND      a use: call, new, extends, implements, uses_trait, type, decorates, raise; with @name and
;                        @receiver
;   @binding.KIND        a name with a written type: parameter, local, field, declared (a field with a declared type);
;                        with @name, and @type or @value (another name with the same type)
;   @binding.made        a local without a declared type whose value is the result of a call or `new`
;   @binding.other       a local whose value has no written type
;   @binding.assigned    a field whose value has no written type

(ERROR) @broken
(MISSING) @broken
