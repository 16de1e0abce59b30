; Captures that mean the same in all languages, and the words that every file here is written with.
;
;   @definition.KIND     what defines something, all of it; with @name, and @body where one follows the signature
;   @owner               beside @name: what a definition belongs to that it does not stand in (Go's receivers)
;   @scope               what definitions stand in that is none itself, with @owner (Rust's impl, Swift's extension)
;   @around              what stands around a definition and is a part of it, with the definition as @inner (export)
;   @attached            a comment, decorator or attribute: one above a definition belongs to it
;   @docstring           a text inside of a definition that describes it
;   @namespace           the namespace or package of the file
;   @import, @import.KIND     with @name, @alias, and @prefix where the name continues it
;   @reference.KIND      a use: call, new, extends, implements, uses_trait, type, decorates; with @name and @receiver
;   @binding.KIND        a name with a written type: parameter, local, field, declared (a field, whatever it is given
;                        later); with @name, and @type or @value (another name, whose type it has)
;   @binding.made        a local that is given what a call or `new` makes, where nothing else is declared
;   @binding.other, @binding.assigned    a local, a field that is given what has no written type

(ERROR) @broken
(MISSING) @broken
