package rpcstudy

import (
	"fmt"
	"go/format"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/compiler/protogen"
	"google.golang.org/protobuf/types/pluginpb"
)

// serviceSource returns the source of a Go file for the module of a generated server. The file
// implements the document's services, for example the method func (s *service0) Get(_ context.Context,
// q *pb.GetRequest) (*pb.User, error).
func (m module) serviceSource(request *pluginpb.CodeGeneratorRequest, d *Document) (string, error) {
	gen, err := protogen.Options{}.New(request)
	if err != nil {
		return "", &GenerateError{Plugin: "protogen", Err: err}
	}
	w := &writer{imports: map[string]string{}}
	file := gen.FilesByPath[d.file.Path()]
	for i, s := range file.Services {
		w.writeHandlers(m, file, i, s)
	}
	w.writeRegister(m, file)
	var b strings.Builder
	b.WriteString("package main\n\nimport (\n")
	for _, path := range slices.Sorted(maps.Keys(w.imports)) {
		fmt.Fprintf(&b, "\t%s %q\n", w.imports[path], path)
	}
	fmt.Fprintf(&b, ")\n%s", w.b.String())
	out, err := format.Source([]byte(b.String()))
	return string(out), err
}

type writer struct {
	b       strings.Builder
	imports map[string]string // names by path
}

func (w *writer) printLine(format string, args ...any) { fmt.Fprintf(&w.b, format+"\n", args...) }

// qualify returns an identifier with its package name, and imports the package.
func (w *writer) qualify(id protogen.GoIdent) string {
	path := string(id.GoImportPath)
	if w.imports[path] == "" {
		w.imports[path] = fmt.Sprintf("i%d", len(w.imports))
	}
	return w.imports[path] + "." + id.GoName
}

// serviceIdent returns an identifier of the package of services, which for Connect is not that of
// messages.
func (w *writer) serviceIdent(m module, f *protogen.File, name string) string {
	path := f.GoImportPath
	if m.name == "connect" {
		path += protogen.GoImportPath("/" + string(f.GoPackageName) + "connect")
	}
	return w.qualify(path.Ident(name))
}

// writeHandlers writes the type service<i> and its constructor.
func (w *writer) writeHandlers(m module, f *protogen.File, i int, s *protogen.Service) {
	unimplemented := "Unimplemented" + s.GoName + "Server"
	if m.name == "connect" {
		unimplemented = "Unimplemented" + s.GoName + "Handler"
	}
	w.printLine("\ntype service%d struct {\n\t%s", i, w.serviceIdent(m, f, unimplemented))
	for k, method := range s.Methods {
		w.printLine("\tm%d *method[*%s, *%s]", k, w.qualify(method.Input.GoIdent), w.qualify(method.Output.GoIdent))
	}
	w.printLine("}\n\nfunc newService%d(c *calls) *service%[1]d {\n\treturn &service%[1]d{", i)
	for k, method := range s.Methods {
		w.printLine("\t\tm%d: newMethod[*%s, *%s](c, %q),", k, w.qualify(method.Input.GoIdent), w.qualify(method.Output.GoIdent), fmt.Sprintf("/%s/%s", s.Desc.FullName(), method.Desc.Name()))
	}
	w.printLine("\t}\n}")
	context := w.qualify(protogen.GoImportPath("context").Ident("Context"))
	for k, method := range s.Methods {
		in, out := w.qualify(method.Input.GoIdent), w.qualify(method.Output.GoIdent)
		if m.name == "connect" {
			request, response := w.qualify(connectPath.Ident("Request")), w.qualify(connectPath.Ident("Response"))
			w.printLine("\nfunc (s *service%d) %s(_ %s, q *%s[%s]) (*%s[%s], error) {", i, method.GoName, context, request, in, response, out)
			w.printLine("\tanswer, err := s.m%d.call(q.Msg)\n\tif err != nil {\n\t\treturn nil, refuse(err)\n\t}\n\treturn %s(answer), nil\n}", k, w.qualify(connectPath.Ident("NewResponse")))
			continue
		}
		w.printLine("\nfunc (s *service%d) %s(_ %s, q *%s) (*%s, error) {", i, method.GoName, context, in, out)
		w.printLine("\tanswer, err := s.m%d.call(q)\n\tif err != nil {\n\t\treturn nil, refuse(err)\n\t}\n\treturn answer, nil\n}", k)
	}
}

const connectPath = protogen.GoImportPath("connectrpc.com/connect")

// writeRegister writes the functions that the templates call to register the services.
func (w *writer) writeRegister(m module, f *protogen.File) {
	grpc, runtime := protogen.GoImportPath("google.golang.org/grpc"), protogen.GoImportPath("github.com/grpc-ecosystem/grpc-gateway/v2/runtime")
	forEachService := func(write func(i int, s *protogen.Service)) {
		for i, s := range f.Services {
			write(i, s)
		}
	}
	if m.name == "connect" {
		w.printLine("\nfunc register(mux *%s, c *calls, o ...%s) {", w.qualify(protogen.GoImportPath("net/http").Ident("ServeMux")), w.qualify(connectPath.Ident("HandlerOption")))
		forEachService(func(i int, s *protogen.Service) {
			w.printLine("\tmux.Handle(%s(newService%d(c), o...))", w.serviceIdent(m, f, "New"+s.GoName+"Handler"), i)
		})
		w.printLine("}")
		return
	}
	w.printLine("\nfunc register(r %s, c *calls) {", w.qualify(grpc.Ident("ServiceRegistrar")))
	forEachService(func(i int, s *protogen.Service) {
		w.printLine("\t%s(r, newService%d(c))", w.serviceIdent(m, f, "Register"+s.GoName+"Server"), i)
	})
	w.printLine("}")
	if m.name != "gateway" {
		return
	}
	context, mux := w.qualify(protogen.GoImportPath("context").Ident("Context")), w.qualify(runtime.Ident("ServeMux"))
	w.printLine("\nfunc dialTo(ctx %s, mux *%s, to *%s) error {", context, mux, w.qualify(grpc.Ident("ClientConn")))
	forEachService(func(_ int, s *protogen.Service) {
		w.printLine("\tif err := %s(ctx, mux, to); err != nil {\n\t\treturn err\n\t}", w.serviceIdent(m, f, "Register"+s.GoName+"Handler"))
	})
	w.printLine("\treturn nil\n}\n\nfunc callIn(ctx %s, mux *%s, c *calls) error {", context, mux)
	forEachService(func(i int, s *protogen.Service) {
		w.printLine("\tif err := %s(ctx, mux, newService%d(c)); err != nil {\n\t\treturn err\n\t}", w.serviceIdent(m, f, "Register"+s.GoName+"HandlerServer"), i)
	})
	w.printLine("\treturn nil\n}")
}
