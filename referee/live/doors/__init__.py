"""The entrances for agents: sockets, HTTP/2, gRPC's server, and the checking of tokens."""
