package jsonstudy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/gocmd"
	"github.com/tarebench/tare/internal/build"
)

// codeGenerator is a codec that needs generated code. The generated methods must be in the package of
// the type, so the type is copied.
type codeGenerator struct {
	name    string                        // name of the contender module
	mark    string                        // comment above a type that requests code for it, or ""
	command []string                      // arguments of go, run in the directory of the copy
	newFile func(Type) (text, why string) // returns user.go of the contender, or why the type is not supported

	addsMethods bool // the generated code has the methods that encoding/json calls
}

// generators returns the generators of the named modules.
func generators(names map[string]bool) []codeGenerator {
	all := []codeGenerator{
		{
			name: "easyjson", mark: "//easyjson:json", newFile: easyjsonFile,
			command: []string{"run", "github.com/mailru/easyjson/easyjson", "-no_std_marshalers", "user.go"},
		},
		{
			name: "ffjson", newFile: ffjsonFile,
			command:     []string{"run", "github.com/pquerna/ffjson", "-force-regenerate", "user.go"},
			addsMethods: true,
		},
	}
	return slices.DeleteFunc(all, func(g codeGenerator) bool { return !names[g.name] })
}

// Generated reports whether a codec needs code that is generated for the type.
func Generated(id string) bool { return len(generators(map[string]bool{id: true})) > 0 }

// userTemplate is the file user.go of a contender. Its function user makes documents of the copied type.
// The two values are the contender and the Go type of a document.
const userTemplate = `package main

import own "github.com/tarebench/tare/contenders/codec/%s/user"

// user makes a pointer to an empty document of the user's own type.
func user() func() any { return func() any { return new(%s) } }
`

// bareTemplate follows userTemplate if encoding/json would call the generated methods. Its function bare
// converts a document to a type with the same layout but without methods. The two values are the Go type
// of a document and the name of the type.
const bareTemplate = `
// bare is a document without the methods that were generated, in the same memory.
func bare(v any) any {
	if d, ok := v.(*%s); ok {
		return (*plain.%s)(unsafe.Pointer(d))
	}
	return v
}
`

func easyjsonFile(t Type) (text, why string) {
	if t.Why != "" {
		return "", t.Why
	}
	if t.Root == "other" {
		return "", "it generates code for structs, slices and maps, and the document is another value"
	}
	return fmt.Sprintf(userTemplate, "easyjson", "own."+rootName), ""
}

// ffjsonFile implements codeGenerator.newFile for ffjson.
func ffjsonFile(t Type) (text, why string) {
	goType := ""
	switch {
	case t.Why != "":
		return "", t.Why
	case t.Root == "struct":
		goType = "own." + rootName
	case t.Root == "slice" && t.Item != "":
		goType = fmt.Sprintf("list[own.%s, *own.%[1]s]", t.Item)
	default:
		return "", "it generates code for structs only, and the document is another value"
	}
	text = fmt.Sprintf(userTemplate, "ffjson", goType) + fmt.Sprintf(bareTemplate, goType, rootName)
	return strings.Replace(text, "import own", "import \"unsafe\"\nimport plain \"github.com/tarebench/tare/contenders/codec/ffjson/user/plain\"\nimport own", 1), ""
}

// contenderPath returns the slash-separated path of a file of the contender's module.
func (g codeGenerator) contenderPath(name string) string {
	return "contenders/codec/" + g.name + "/" + name
}

// typesSource returns package user with the copied type.
func (g codeGenerator) typesSource(t Type) string {
	mark := ""
	if g.mark != "" {
		mark = "//\n" + g.mark + "\n"
	}
	return "// Package user holds a copy of the user's own type.\npackage user\n\n" + t.importLines() + addMark(t.Source, mark)
}

// plainSource returns the copied type for a package without generated code.
func (t Type) plainSource() string {
	return "// Package plain holds a copy of the user's own type without methods.\npackage plain\n\n" + t.importLines() + t.Source
}

// unsupportedError reports that a generator does not support a type. After any other error, a later run
// may succeed.
type unsupportedError struct{ error }

// runGenerator generates code for the type. If a plain struct works, the error is an unsupportedError.
// If that fails, too, the machine may be the reason: a failed download, or a full disk.
func (g codeGenerator) runGenerator(ctx context.Context, run gocmd.Go, bench string, t Type) error {
	err := g.tryGenerate(ctx, run, bench, t)
	if err == nil || ctx.Err() != nil || errors.Is(err, build.ErrNoToolchain) {
		return err
	}
	plain := Type{Source: "// Document is.\ntype " + rootName + " struct{ A int }\n"}
	if errors.Is(err, gocmd.ErrTooLong) || g.tryGenerate(ctx, run, bench, plain) != nil {
		return fmt.Errorf("%w; the next run tries again", err)
	}
	return unsupportedError{err}
}

// tryGenerate copies the type into a new package, generates code, and compiles it.
func (g codeGenerator) tryGenerate(ctx context.Context, run gocmd.Go, bench string, t Type) error {
	dir := filepath.Join(bench, filepath.FromSlash(g.contenderPath("user")))
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	files := map[string]string{"user.go": g.typesSource(t)}
	if g.addsMethods {
		files["plain/plain.go"] = t.plainSource()
	}
	if err := gocmd.WriteAll(dir, files); err != nil {
		return err
	}
	if _, err := run.In(ctx, dir, g.command...); err != nil {
		return fmt.Errorf("its generator fails: %w", err)
	}
	if _, err := run.In(ctx, dir, "build", "."); err != nil {
		return fmt.Errorf("what its generator makes of the type does not compile: %w", err)
	}
	return nil
}
