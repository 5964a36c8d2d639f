//go:build tools

// This file names the plugins of protoc, so that `go mod tidy` keeps them in go.mod.
package main

import (
	_ "google.golang.org/grpc/cmd/protoc-gen-go-grpc"
	_ "google.golang.org/protobuf/cmd/protoc-gen-go"
)
