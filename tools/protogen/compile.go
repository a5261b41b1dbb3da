package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	_ "google.golang.org/genproto/googleapis/api/annotations" // registers google/api/annotations.proto
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

// compileSources compiles the .proto files and returns the request for the plugins, as protoc would
// send it.
func (j job) compileSources(ctx context.Context) (*pluginpb.CodeGeneratorRequest, error) {
	sources, err := filepath.Glob(filepath.Join(j.from, "*.proto"))
	if err != nil {
		return nil, err
	}
	if len(sources) == 0 {
		return nil, fmt.Errorf("%s: no .proto files", j.from)
	}
	for i := range sources {
		sources[i] = filepath.Base(sources[i])
	}
	c := protocompile.Compiler{
		Resolver: protocompile.WithStandardImports(protocompile.CompositeResolver{
			&protocompile.SourceResolver{ImportPaths: []string{j.from}},
			protocompile.ResolverFunc(findLinked),
		}),
		SourceInfoMode: protocompile.SourceInfoStandard, // comments
	}
	files, err := c.Compile(ctx, sources...)
	if err != nil {
		return nil, err
	}
	request := &pluginpb.CodeGeneratorRequest{FileToGenerate: sources}
	seen := map[string]bool{}
	for _, f := range files {
		request.ProtoFile = addWithImports(request.ProtoFile, f, seen)
	}
	parameters := []string{"paths=source_relative"}
	if j.pkg != "" {
		for _, source := range sources {
			parameters = append(parameters, "M"+source+"="+j.pkg)
		}
	}
	for _, f := range request.ProtoFile {
		if slices.Contains(sources, f.GetName()) {
			removeImports(f, j.drop)
		}
	}
	if j.messages != "" {
		request.ProtoFile = splitFiles(request.ProtoFile, sources)
		for _, source := range sources {
			parameters = append(parameters, "M"+messagesName(source)+"="+j.messages)
		}
	}
	request.Parameter = proto.String(strings.Join(parameters, ","))
	return request, nil
}

// findLinked returns a .proto file that is registered in this program, such as google/api/annotations.proto.
func findLinked(path string) (protocompile.SearchResult, error) {
	f, err := protoregistry.GlobalFiles.FindFileByPath(path)
	if err != nil {
		return protocompile.SearchResult{}, err
	}
	return protocompile.SearchResult{Desc: f}, nil
}

// addWithImports appends f to list after everything that it imports, which is the order that plugins expect.
// seen has the paths that are in list already.
func addWithImports(list []*descriptorpb.FileDescriptorProto, f protoreflect.FileDescriptor, seen map[string]bool) []*descriptorpb.FileDescriptorProto {
	if seen[f.Path()] {
		return list
	}
	seen[f.Path()] = true
	for i := range f.Imports().Len() {
		list = addWithImports(list, f.Imports().Get(i).FileDescriptor, seen)
	}
	return append(list, protoutil.ProtoFromFileDescriptor(f))
}

// removeImports removes imports from f. If f has one of them, it also removes the options of all methods,
// because they may use it.
func removeImports(f *descriptorpb.FileDescriptorProto, imports []string) {
	if !slices.ContainsFunc(f.GetDependency(), func(d string) bool { return slices.Contains(imports, d) }) {
		return
	}
	f.Dependency = slices.DeleteFunc(f.Dependency, func(d string) bool { return slices.Contains(imports, d) })
	for _, s := range f.GetService() {
		for _, m := range s.GetMethod() {
			m.Options = nil
		}
	}
}

// messagesName returns the file name of the messages of a source.
func messagesName(source string) string { return "messages/" + source }

// splitFiles splits each source into a file with its messages and a file with its services, because plugins
// generate code for everything in a file.
func splitFiles(files []*descriptorpb.FileDescriptorProto, sources []string) []*descriptorpb.FileDescriptorProto {
	var messages, services []*descriptorpb.FileDescriptorProto
	for _, f := range files {
		if !slices.Contains(sources, f.GetName()) {
			messages = append(messages, f)
			continue
		}
		m, s := proto.CloneOf(f), proto.CloneOf(f)
		m.Name = proto.String(messagesName(f.GetName()))
		for i, d := range m.Dependency {
			if slices.Contains(sources, d) {
				m.Dependency[i], s.Dependency[i] = messagesName(d), messagesName(d)
			}
		}
		m.Service = nil
		s.MessageType, s.EnumType, s.Extension = nil, nil, nil
		s.Dependency = append(s.Dependency, m.GetName())
		removeComments(m.GetSourceCodeInfo(), fieldService)
		removeComments(s.GetSourceCodeInfo(), fieldMessage, fieldEnum, fieldExtension)
		messages, services = append(messages, m), append(services, s)
	}
	return append(messages, services...)
}

// Numbers of fields of google.protobuf.FileDescriptorProto. The path of a location in a source begins
// with the number of the field that is at this location.
const (
	fieldMessage   = 4
	fieldEnum      = 5
	fieldService   = 6
	fieldExtension = 7
)

// removeComments removes the locations, and with them the comments, of the contents of fields.
func removeComments(info *descriptorpb.SourceCodeInfo, fields ...int32) {
	if info == nil {
		return
	}
	info.Location = slices.DeleteFunc(info.Location, func(l *descriptorpb.SourceCodeInfo_Location) bool {
		return len(l.GetPath()) > 0 && slices.Contains(fields, l.GetPath()[0])
	})
}
