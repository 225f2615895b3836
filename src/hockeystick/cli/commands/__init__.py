"""One command to a module, which is imported when the command is asked for."""
