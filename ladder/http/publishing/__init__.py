"""Publishing the pages: by a process of their own, or as files."""
