"""The commands `dogana tournament NAME`, each in a module of its own, and the code that they share."""
