"""What is kept on the disk beside the facts: records, logs, keys, backups, and how long."""
