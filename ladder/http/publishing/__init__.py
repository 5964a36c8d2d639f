"""How pages get out: served by a process of their own, or written to files."""
