"""The commands `dogana tournament NAME`, a module each, and what they share."""
