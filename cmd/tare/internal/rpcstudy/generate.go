package rpcstudy

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"

	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/gocmd"
	"github.com/tarebench/tare/cmd/tare/internal/catalog"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/internal/build"
)

// parts contains the sources of generated modules: templates of main packages, and a go.mod that pins
// the versions of the protoc plugins, which generate code from .proto files.
//
//go:embed template plugins
var parts embed.FS

// module is a generated Go module: a server with one transport, such as gRPC. tare measures it as a
// contender.
type module struct {
	name      string   // name of its directory; see catalogID
	templates []string // names of the template files
	plugins   []plugin
	linked    []string // directories of .proto files whose generated code its libraries contain
	manifest  string   // manifest of the contender
}

// plugin is a protoc plugin. An edition in a .proto file makes the fields of its messages pointers. The
// gateway's code can set these only through the opaque API.
type plugin struct {
	name    string
	options string // options for all files
	opaque  string // further options if a file has an edition
}

// opaqueMessages makes protoc-gen-go generate messages with the opaque API.
const opaqueMessages = ",default_api_level=API_OPAQUE"

func allModules() []module {
	return []module{
		{
			name: "grpc", templates: []string{"calls", "grpc", "grpcserver"},
			plugins: []plugin{{name: "protoc-gen-go", opaque: opaqueMessages}, {name: "protoc-gen-go-grpc"}},
			linked:  []string{"google/protobuf/", "google/rpc/"},
			manifest: `{"id": "grpc", "kind": "server", "apps": ["service"], "protocols": ["grpc"],
 "why": "grpc-go with generated code, no interceptors; handlers answer with a prepared message",
 "modules": ["google.golang.org/grpc"], "symbols": ["google.golang.org/grpc.(*Server).handleStream", "google.golang.org/protobuf/proto.Unmarshal"]}`,
		},
		{
			name: "connect", templates: []string{"calls", "bodies", "connect"},
			plugins: []plugin{{name: "protoc-gen-go", opaque: opaqueMessages}, {name: "protoc-gen-connect-go"}},
			linked:  []string{"google/protobuf/"},
			manifest: `{"id": "connect", "kind": "server", "apps": ["service"], "protocols": ["connect", "connect-json", "grpc"],
 "why": "connect-go with generated code on net/http, no interceptors; handlers answer with a prepared message",
 "modules": ["connectrpc.com/connect"], "symbols": ["connectrpc.com/connect.(*Handler).ServeHTTP", "google.golang.org/protobuf/proto.Unmarshal"]}`,
		},
		{
			name: "gateway", templates: []string{"calls", "bodies", "grpcserver", "gateway"},
			plugins: []plugin{
				{name: "protoc-gen-go", opaque: opaqueMessages},
				{name: "protoc-gen-go-grpc"},
				{name: "protoc-gen-grpc-gateway", options: ",generate_unbound_methods=true,allow_delete_body=true", opaque: ",use_opaque_api=true"},
			},
			linked: []string{"google/protobuf/", "google/rpc/", "google/api/"},
			manifest: `{"id": "gateway", "kind": "server", "apps": ["service"], "protocols": ["http"], "variants": ["dial", "inprocess"],
 "why": "gRPC-Gateway with generated code: dial reaches a grpc-go server of the same process over loopback, inprocess calls its methods; handlers answer with a prepared message",
 "modules": ["github.com/grpc-ecosystem/grpc-gateway/v2", "google.golang.org/grpc"], "symbols": ["github.com/grpc-ecosystem/grpc-gateway/v2/runtime.(*ServeMux).ServeHTTP"]}`,
		},
	}
}

// catalogKind is a kind in tare's catalog, whose versions of libraries generated modules use.
const catalogKind = "rpc"

// modulePath returns the path of a generated module. It sorts before the paths of libraries, so that Go
// initialises the module's package conflict first.
func (m module) modulePath() string { return "contender.test/" + m.name }

// Bench configures the generation of servers.
type Bench struct {
	Cache string       // cache directory; generated modules are in Cache/rpc
	Run   string       // TARE_RUN of started processes; "" leaves it unset
	Log   func(string) // gets lines of progress; may be nil
}

// Generate generates the modules of the selected transports and of the baseline, and returns their
// directory. Its name is a hash of the input: equal input is generated once.
func (b Bench) Generate(ctx context.Context, source catalog.Catalog, d *Document, only func(id string) bool) (string, error) {
	needed := map[string]bool{}
	for _, t := range allTransports() {
		if t.id == Baseline || only(t.id) {
			needed[t.module] = true
		}
	}
	files := map[string]string{}
	requests := map[string]*pluginpb.CodeGeneratorRequest{}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := parts.ReadFile("plugins/" + name + ".txt")
		if err != nil {
			return "", err
		}
		files["plugins/"+name] = string(text)
	}
	input := sha256.New()
	for _, m := range allModules() { // collect the files to write, and hash the input of the plugins
		if !needed[m.name] {
			continue
		}
		request := d.pluginRequest(m)
		sources, err := m.sourceFiles(source, request, d)
		if err != nil {
			return "", err
		}
		for name, text := range sources {
			files[m.name+"/"+name] = text
		}
		requests[m.name] = request
		src, err := marshalRequest(request)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(input, "%s %x %v\n", m.name, sha256.Sum256(src), m.plugins)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(input, "%q %x\n", name, sha256.Sum256([]byte(files[name])))
	}
	parent := filepath.Join(b.Cache, "rpc")
	dir := filepath.Join(parent, hex.EncodeToString(input.Sum(nil))[:20])
	if atomicfile.Sealed(dir) {
		return dir, nil
	}
	return dir, b.generateModules(ctx, parent, dir, files, requests)
}

// marshalRequest encodes equal requests to equal bytes.
func marshalRequest(q *pluginpb.CodeGeneratorRequest) ([]byte, error) {
	return proto.MarshalOptions{Deterministic: true}.Marshal(q)
}

// generateModules writes files and the output of plugins to dir. It writes to a temporary directory and
// renames that, so that no process sees a part. The error of a plugin is a *GenerateError.
func (b Bench) generateModules(ctx context.Context, parent, dir string, files map[string]string, requests map[string]*pluginpb.CodeGeneratorRequest) error {
	cacheError := func(err error) error { return fmt.Errorf("%w %s: %w", build.ErrCache, parent, err) }
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return cacheError(err)
	}
	tmp, err := os.MkdirTemp(parent, ".making-")
	if err != nil {
		return cacheError(err)
	}
	defer os.RemoveAll(tmp)
	if err := gocmd.WriteAll(tmp, files); err != nil {
		return cacheError(err)
	}
	for _, m := range allModules() {
		request := requests[m.name]
		if request == nil {
			continue
		}
		for _, p := range m.plugins {
			if b.Log != nil {
				b.Log("generating code with " + p.name)
			}
			generated, err := b.runPlugin(ctx, filepath.Join(tmp, "plugins"), p, request)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				return &GenerateError{Plugin: p.name, Err: err}
			}
			if err := gocmd.WriteAll(filepath.Join(tmp, m.name), generated); err != nil {
				return cacheError(err)
			}
		}
	}
	if err := atomicfile.Seal(atomicfile.System{}, tmp); err != nil {
		return cacheError(err)
	}
	if err := atomicfile.Place(tmp, dir, atomicfile.Sealed); err != nil {
		return cacheError(err)
	}
	return nil
}

// GenerateError reports that a plugin rejected the .proto file.
type GenerateError struct {
	Plugin string
	Err    error // error of the plugin
}

func (e *GenerateError) Error() string { return fmt.Sprintf("%s: %v", e.Plugin, e.Err) }

func (e *GenerateError) Unwrap() error { return e.Err }

// runPlugin runs a plugin by "go tool" in the module that pins its version. It returns files by
// slash-separated path.
func (b Bench) runPlugin(ctx context.Context, dir string, p plugin, request *pluginpb.CodeGeneratorRequest) (map[string]string, error) {
	request = proto.CloneOf(request)
	options := p.options
	hasEdition := slices.ContainsFunc(request.GetProtoFile(), func(f *descriptorpb.FileDescriptorProto) bool {
		return f.Edition != nil && slices.Contains(request.GetFileToGenerate(), f.GetName())
	})
	if hasEdition {
		options += p.opaque
	}
	request.Parameter = proto.String(request.GetParameter() + options)
	in, err := marshalRequest(request)
	if err != nil {
		return nil, err
	}
	out, err := gocmd.Go{Tag: b.Run, Stdin: bytes.NewReader(in)}.In(ctx, dir, "tool", p.name)
	if err != nil {
		return nil, err
	}
	response := new(pluginpb.CodeGeneratorResponse)
	if err := proto.Unmarshal([]byte(out), response); err != nil {
		return nil, fmt.Errorf("its response: %w", err)
	}
	if response.Error != nil {
		return nil, errors.New(response.GetError())
	}
	files := map[string]string{}
	for _, f := range response.GetFile() {
		if !filepath.IsLocal(f.GetName()) {
			return nil, fmt.Errorf("it names the file %s", f.GetName())
		}
		files[f.GetName()] = f.GetContent()
	}
	return files, nil
}

// sourceFiles returns the files that no plugin writes.
func (m module) sourceFiles(source catalog.Catalog, request *pluginpb.CodeGeneratorRequest, d *Document) (map[string]string, error) {
	leaf, _, err := source.Leaf(catalogKind, m.catalogID())
	if err != nil {
		return nil, err
	}
	mod, err := os.ReadFile(filepath.Join(leaf.Src(), "go.mod"))
	if err != nil {
		return nil, err
	}
	sum, err := os.ReadFile(filepath.Join(leaf.Src(), "go.sum"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	service, err := m.serviceSource(request, d)
	if err != nil {
		return nil, err
	}
	files := map[string]string{
		"go.mod": m.goModText(string(mod)), "go.sum": string(sum), build.ManifestName: m.manifest,
		"service.go": service,
	}
	for _, name := range append(m.templates, "conflict/conflict") {
		text, err := parts.ReadFile("template/" + name + ".go.txt")
		if err != nil {
			return nil, err
		}
		files[name+".go"] = strings.ReplaceAll(string(text), "MODULE", m.modulePath())
	}
	return files, nil
}

// catalogID returns the catalog id of the contender with the same libraries.
func (m module) catalogID() string {
	if m.name == "gateway" {
		return "gateway-dial"
	}
	return m.name
}

// Libraries returns the catalog contenders whose versions of libraries the generated programs use, and
// their kind.
func Libraries(only func(id string) bool) (kind string, ids []string) {
	for _, m := range allModules() {
		if slices.ContainsFunc(allTransports(), func(t transport) bool { return t.module == m.name && (t.id == Baseline || only(t.id)) }) {
			ids = append(ids, m.catalogID())
		}
	}
	return catalogKind, ids
}

// goModText adapts the go.mod of a catalog contender. The builder replaces the SDK.
func (m module) goModText(mod string) string {
	var b strings.Builder
	inReplace := false // the line is in a replace block
	for line := range strings.Lines(mod) {
		switch {
		case strings.HasPrefix(line, "module "):
			line = "module " + m.modulePath() + "\n"
		case strings.HasPrefix(line, "replace ("):
			inReplace = true
		case strings.Contains(line, "github.com/tarebench/tare/"), strings.HasPrefix(line, "replace "):
			continue
		}
		if !inReplace {
			b.WriteString(line)
		}
		if strings.HasPrefix(line, ")") {
			inReplace = false
		}
	}
	return b.String()
}

// pluginRequest returns the document's file and its imports. A plugin may reject the file for one
// method that is not measured, so it removes these. Each file becomes a Go package, so that packages
// cannot import each other in a cycle.
func (d *Document) pluginRequest(m module) *pluginpb.CodeGeneratorRequest {
	q := &pluginpb.CodeGeneratorRequest{}
	parameters := []string{"module=" + m.modulePath()}
	seen := map[string]bool{}
	var add func(f protoreflect.FileDescriptor)
	add = func(f protoreflect.FileDescriptor) {
		if seen[f.Path()] {
			return
		}
		seen[f.Path()] = true
		var imports []string
		for _, imported := range importedFiles(f) {
			add(imported)
			imports = append(imports, imported.Path())
		}
		pb := proto.CloneOf(protoutil.ProtoFromFileDescriptor(f))
		pb.Dependency, pb.PublicDependency, pb.WeakDependency, pb.SourceCodeInfo = imports, nil, nil, nil
		pb.Service = d.measuredServices(f, pb.GetService())
		if known := m.knownPackage(f.Path()); known != "" {
			parameters = append(parameters, "M"+f.Path()+"="+known)
		} else {
			name := fmt.Sprintf("p%d", len(q.FileToGenerate))
			parameters = append(parameters, fmt.Sprintf("M%s=%s;%s", f.Path(), path.Join(m.modulePath(), name), name))
			q.FileToGenerate = append(q.FileToGenerate, f.Path())
		}
		q.ProtoFile = append(q.ProtoFile, pb)
	}
	add(d.file)
	q.Parameter = proto.String(strings.Join(parameters, ","))
	return q
}

// measuredServices returns the services of a file with only their measured methods.
func (d *Document) measuredServices(f protoreflect.FileDescriptor, services []*descriptorpb.ServiceDescriptorProto) (measured []*descriptorpb.ServiceDescriptorProto) {
	methods := map[protoreflect.FullName]*Method{}
	for _, m := range d.Methods {
		methods[m.desc.FullName()] = m
	}
	for _, s := range services {
		service := f.Package().Append(protoreflect.Name(s.GetName()))
		s.Method = slices.DeleteFunc(s.Method, func(pb *descriptorpb.MethodDescriptorProto) bool {
			m := methods[service.Append(protoreflect.Name(pb.GetName()))]
			if m != nil {
				pb.Options = m.options
			}
			return m == nil
		})
		if len(s.Method) > 0 {
			measured = append(measured, s)
		}
	}
	return measured
}

// knownPackage returns the Go package of a .proto file in the module's libraries, or "".
func (m module) knownPackage(file string) string {
	if !slices.ContainsFunc(m.linked, func(dir string) bool { return strings.HasPrefix(file, dir) }) {
		return ""
	}
	f, err := protoregistry.GlobalFiles.FindFileByPath(file)
	if err != nil {
		return ""
	}
	o, ok := f.Options().(*descriptorpb.FileOptions)
	if !ok {
		return ""
	}
	return o.GetGoPackage()
}

// importedFiles returns the files whose types f uses, sorted by path.
func importedFiles(f protoreflect.FileDescriptor) []protoreflect.FileDescriptor {
	found := map[string]protoreflect.FileDescriptor{}
	addFile := func(d protoreflect.Descriptor) {
		if d.ParentFile().Path() != f.Path() {
			found[d.ParentFile().Path()] = d.ParentFile()
		}
	}
	addField := func(fd protoreflect.FieldDescriptor) {
		if fd.Message() != nil {
			addFile(fd.Message())
		}
		if fd.Enum() != nil {
			addFile(fd.Enum())
		}
	}
	addExtensions := func(list protoreflect.ExtensionDescriptors) {
		for i := range list.Len() {
			addField(list.Get(i))
			addFile(list.Get(i).ContainingMessage())
		}
	}
	var addMessage func(md protoreflect.MessageDescriptor)
	addMessage = func(md protoreflect.MessageDescriptor) {
		for i := range md.Fields().Len() {
			addField(md.Fields().Get(i))
		}
		for i := range md.Messages().Len() {
			addMessage(md.Messages().Get(i))
		}
		addExtensions(md.Extensions())
	}
	for i := range f.Messages().Len() {
		addMessage(f.Messages().Get(i))
	}
	addExtensions(f.Extensions())
	for i := range f.Services().Len() {
		methods := f.Services().Get(i).Methods()
		for k := range methods.Len() {
			addFile(methods.Get(k).Input())
			addFile(methods.Get(k).Output())
		}
	}
	var list []protoreflect.FileDescriptor
	for _, name := range slices.Sorted(maps.Keys(found)) {
		list = append(list, found[name])
	}
	return list
}
