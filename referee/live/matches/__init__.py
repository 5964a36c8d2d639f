"""Live matches: their driver, series, spectators, and other machines."""
