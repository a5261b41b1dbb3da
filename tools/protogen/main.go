// Command protogen generates Go code from .proto files with nothing but Go: it
// compiles them itself, where others need protoc, and gives plugins the request
// that protoc would give them. What it writes stands beside each source.
//
//	go run -C ../../tools/protogen . [-plugins protoc-gen-go] DIR
//
// DIR is relative to protogen's own folder, where -C starts it. Imports of
// google/protobuf/*.proto are built in; others are looked for in DIR. It is a
// module of its own, outside the workspace (GOWORK=off), so that nobody else's
// requirements decide which version of a plugin writes the code. A plugin is a
// tool of that module, so that "go mod download" is all that it needs.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

func main() {
	plugins := flag.String("plugins", "protoc-gen-go", "tools of this module to run, with commas")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: protogen [-plugins NAME,…] DIR")
		os.Exit(2)
	}
	if err := generate(context.Background(), flag.Arg(0), strings.Split(*plugins, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "protogen:", err)
		os.Exit(1)
	}
}

// generate gives every .proto file in dir to every plugin.
func generate(ctx context.Context, dir string, plugins []string) error {
	request, err := compile(ctx, dir)
	if err != nil {
		return err
	}
	for _, name := range plugins {
		response, err := run(ctx, name, request)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, f := range response.GetFile() {
			if !filepath.IsLocal(f.GetName()) {
				return fmt.Errorf("%s: %s is outside of %s", name, f.GetName(), dir)
			}
			if err := os.WriteFile(filepath.Join(dir, f.GetName()), []byte(f.GetContent()), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// compile makes of the sources in dir what plugins are asked with.
func compile(ctx context.Context, dir string) (*pluginpb.CodeGeneratorRequest, error) {
	sources, err := filepath.Glob(filepath.Join(dir, "*.proto"))
	if err != nil {
		return nil, err
	}
	if len(sources) == 0 {
		return nil, fmt.Errorf("%s: no .proto files", dir)
	}
	for i := range sources {
		sources[i] = filepath.Base(sources[i])
	}
	c := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{dir}}),
		SourceInfoMode: protocompile.SourceInfoStandard, // comments
	}
	files, err := c.Compile(ctx, sources...)
	if err != nil {
		return nil, err
	}
	request := &pluginpb.CodeGeneratorRequest{FileToGenerate: sources, Parameter: proto.String("paths=source_relative")}
	seen := map[string]bool{}
	for _, f := range files {
		request.ProtoFile = add(request.ProtoFile, f, seen)
	}
	return request, nil
}

// add appends f after everything it imports: plugins read in that order.
func add(list []*descriptorpb.FileDescriptorProto, f protoreflect.FileDescriptor, seen map[string]bool) []*descriptorpb.FileDescriptorProto {
	if seen[f.Path()] {
		return list
	}
	seen[f.Path()] = true
	for i := range f.Imports().Len() {
		list = add(list, f.Imports().Get(i).FileDescriptor, seen)
	}
	return append(list, protoutil.ProtoFromFileDescriptor(f))
}

// run asks one plugin.
func run(ctx context.Context, name string, request *pluginpb.CodeGeneratorRequest) (*pluginpb.CodeGeneratorResponse, error) {
	in, err := proto.Marshal(request)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "go", "tool", name)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	response := new(pluginpb.CodeGeneratorResponse)
	if err := proto.Unmarshal(out, response); err != nil {
		return nil, fmt.Errorf("its response: %w", err)
	}
	if response.Error != nil {
		return nil, errors.New(response.GetError())
	}
	return response, nil
}
