"""Tables at which a person plays against bots: a process for each, and the hall that keeps them."""
