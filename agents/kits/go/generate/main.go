// Command generate compiles proto/ to Go, into messages/. It needs no protoc: run `go generate` in the bot's folder.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

const root, module = "proto", "bot"

func main() {
	log.SetFlags(0)
	log.SetPrefix("generate: ")
	if err := generate(); err != nil {
		log.Fatal(err)
	}
}

// generate asks protoc-gen-go for the code of all messages, and writes the files.
func generate() error {
	var names []string
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if path.Ext(name) == ".proto" {
			names = append(names, name)
		}
		return err
	})
	if err != nil || len(names) == 0 {
		return fmt.Errorf("there are no messages in %s/: make the folder again with `dogana new` (%w)", root, err)
	}
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{root}}),
		SourceInfoMode: protocompile.SourceInfoStandard, // the comments
	}
	files, err := compiler.Compile(context.Background(), names...)
	if err != nil {
		return err
	}
	request := &pluginpb.CodeGeneratorRequest{FileToGenerate: names}
	known := map[string]bool{}
	for _, file := range files {
		add(request, known, file)
	}
	options := []string{"module=" + module}
	for _, name := range names {
		// dogana/games/yunnan/v1/yunnan.proto becomes the package bot/messages/yunnan.
		options = append(options, "M"+name+"="+module+"/messages/"+strings.TrimSuffix(path.Base(name), ".proto"))
	}
	request.Parameter = proto.String(strings.Join(options, ","))
	response, err := plugin(request)
	if err != nil {
		return err
	}
	for _, file := range response.File {
		if err := os.MkdirAll(filepath.Dir(file.GetName()), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file.GetName(), []byte(file.GetContent()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// add adds a file to the request, after all the files that it imports.
func add(request *pluginpb.CodeGeneratorRequest, known map[string]bool, file protoreflect.FileDescriptor) {
	if known[file.Path()] {
		return
	}
	known[file.Path()] = true
	imports := file.Imports()
	for i := range imports.Len() {
		add(request, known, imports.Get(i).FileDescriptor)
	}
	var message *descriptorpb.FileDescriptorProto = protodesc.ToFileDescriptorProto(file)
	request.ProtoFile = append(request.ProtoFile, message)
}

// plugin runs protoc-gen-go.
func plugin(request *pluginpb.CodeGeneratorRequest) (*pluginpb.CodeGeneratorResponse, error) {
	data, err := proto.Marshal(request)
	if err != nil {
		return nil, err
	}
	command := exec.Command("go", "tool", "protoc-gen-go")
	command.Stdin, command.Stderr = bytes.NewReader(data), os.Stderr
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go tool protoc-gen-go: %w", err)
	}
	response := &pluginpb.CodeGeneratorResponse{}
	if err := proto.Unmarshal(output, response); err != nil {
		return nil, err
	}
	if response.Error != nil {
		return nil, fmt.Errorf("protoc-gen-go: %s", response.GetError())
	}
	return response, nil
}
