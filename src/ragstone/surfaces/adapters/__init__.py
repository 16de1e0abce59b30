"""An engine as other libraries want it: thin, each beside the library it is for, none loaded unless it is imported."""
