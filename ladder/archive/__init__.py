"""The files beside the facts: records, logs, keys, backups, and their retention."""
