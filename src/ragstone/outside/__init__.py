"""What comes from outside the folder: web pages by their addresses, and the help that programs give."""
