; Elements in JavaScript and TypeScript: naming a component is using it.
(jsx_self_closing_element name: [(identifier) (member_expression)] @name (#match? @name "^[A-Z]")) @reference.call
(jsx_opening_element name: [(identifier) (member_expression)] @name (#match? @name "^[A-Z]")) @reference.call
