#!/bin/sh
# Build agents/go/bin/agent. It needs Go 1.22 or newer, and grpcio-tools (for protoc) in the Python that PYTHON names.
# The modules are those of go.sum; the first build downloads and compiles them, which can take minutes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
python=${PYTHON:-$root/.venv/bin/python}
cd "$here"
version=$(GOTOOLCHAIN=local go env GOVERSION)
case $version in
go1.[0-9] | go1.[0-9].* | go1.1[0-9] | go1.1[0-9].* | go1.2[01] | go1.2[01].*)
	echo "agents/go: this is $version; Go 1.22 or newer is needed (https://go.dev/dl)" >&2
	exit 1
	;;
esac
# What a user may have set for other projects must not decide which modules are used here.
export GOFLAGS=-mod=readonly GOWORK=off
echo "agents/go: downloading the modules of go.sum (once)"
go mod download
echo "agents/go: building the plugins of protoc (the first time it takes a while)"
go build -o bin/protoc-gen-go google.golang.org/protobuf/cmd/protoc-gen-go
go build -o bin/protoc-gen-go-grpc google.golang.org/grpc/cmd/protoc-gen-go-grpc
echo "agents/go: generating the messages in gen/"
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
echo "agents/go: building bin/agent, and every message"
go build ./gen/...
go build -o bin/agent .
