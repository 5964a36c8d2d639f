"""Where agents connect: sockets, HTTP/2, gRPC's server, and who is let in."""
