"""The commands `dogana tournament NAME`, a module each, and the code that they share."""
