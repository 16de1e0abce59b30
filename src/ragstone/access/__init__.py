"""Who may do what: identities, keys, plans and usage."""
