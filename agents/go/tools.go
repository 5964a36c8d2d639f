//go:build tools

// Names the generator's plugins, so that `go mod tidy` keeps them.
package main

import (
	_ "google.golang.org/grpc/cmd/protoc-gen-go-grpc"
	_ "google.golang.org/protobuf/cmd/protoc-gen-go"
)
