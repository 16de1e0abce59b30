"""From an item a source found to a document ready to store: read and cut, here or in a process beside this one."""
