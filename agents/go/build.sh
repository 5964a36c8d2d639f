#!/bin/sh
# Builds agents/go/bin/agent. Needs Go 1.22 or newer, and grpcio-tools (for protoc) in the Python named by PYTHON.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
python=${PYTHON:-$root/.venv/bin/python}
cd "$here"
export GOFLAGS=-mod=mod
go mod tidy >/dev/null 2>&1 || true # the generated packages are not there yet: their imports cannot be resolved
go build -o bin/protoc-gen-go google.golang.org/protobuf/cmd/protoc-gen-go
go build -o bin/protoc-gen-go-grpc google.golang.org/grpc/cmd/protoc-gen-go-grpc
files=$(cd "$root/proto" && find dogana -name '*.proto' | sort)
names=""
for file in $files; do
	package=dogana/agent/gen/$(dirname "$file")
	names="$names --go_opt=M$file=$package --go-grpc_opt=M$file=$package"
done
rm -rf gen && mkdir gen
# shellcheck disable=SC2086
(cd "$root/proto" && "$python" -m grpc_tools.protoc -I. \
	--plugin="$here/bin/protoc-gen-go" --plugin="$here/bin/protoc-gen-go-grpc" \
	--go_out="$here/gen" --go_opt=module=dogana/agent/gen --go-grpc_out="$here/gen" --go-grpc_opt=module=dogana/agent/gen \
	$names $files)
go mod tidy >/dev/null
go build -o bin/agent .
