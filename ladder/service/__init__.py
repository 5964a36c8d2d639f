"""A ladder over the network: who may ask, what the server answers, and how a client asks."""
