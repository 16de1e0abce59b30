; JSX elements in JavaScript and TypeScript: an element calls its component.
(jsx_self_closing_element name: [(identifier) (member_expression)] @name (#match? @name "^[A-Z]")) @reference.call
(jsx_opening_element name: [(identifier) (member_expression)] @name (#match? @name "^[A-Z]")) @reference.call
