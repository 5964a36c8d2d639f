"""The files of a submitted bot, and the command that starts it. Nothing is run here."""
