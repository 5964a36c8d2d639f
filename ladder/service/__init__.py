"""A ladder over the network: its streams over gRPC, and clients of a remote ladder."""
