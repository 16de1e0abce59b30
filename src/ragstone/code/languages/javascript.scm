(class_declaration name: (identifier) @name body: (_) @body) @definition.class
(field_definition property: (_) @name value: (arrow_function body: (_) @body)) @definition.method
(field_definition property: (_) @name) @definition.field
(class_heritage [(identifier) (member_expression)] @name @reference.extends)
(class_heritage (call_expression function: (_) @name @reference.extends))
(field_definition property: (_) @name value: (new_expression constructor: (_) @type)) @binding.field
(formal_parameters [(identifier) @name (assignment_pattern left: (identifier) @name) (rest_pattern (identifier) @name)]
  @binding.other)
