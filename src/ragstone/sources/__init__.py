"""Sources of text: files of a folder, web pages, the help of commands; and the only way to open files."""
