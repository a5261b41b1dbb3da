package document

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/bring/gocmd"
	"github.com/tarebench/tare/internal/build"
)

// generated is a codec that needs code generated for the type: a copy of it, as
// what is generated are methods.
type generated struct {
	name    string   // of its leaf
	mark    string   // comment that asks for code for the declaration below it
	command []string // of go, run beside the type
	main    func(Type) (text, why string)
	bare    bool // what is generated includes the methods that encoding/json looks for
}

// generators are those of the named leaves.
func generators(names map[string]bool) []generated {
	all := []generated{
		{
			name: "easyjson", mark: "//easyjson:json", main: easyjsonMain,
			command: []string{"run", "github.com/mailru/easyjson/easyjson", "-no_std_marshalers", "user.go"},
		},
		{
			name: "ffjson", main: ffjsonMain,
			command: []string{"run", "github.com/pquerna/ffjson", "-force-regenerate", "user.go"},
			bare:    true,
		},
	}
	return slices.DeleteFunc(all, func(g generated) bool { return !names[g.name] })
}

// Generated reports whether a codec needs code generated for every type.
func Generated(id string) bool { return len(generators(map[string]bool{id: true})) > 0 }

const userMain = `package main

import own "github.com/tarebench/tare/contenders/codec/%s/user"

// user makes a pointer to an empty document of the user's own type.
func user() func() any { return func() any { return new(%s) } }
`

// bareMain follows userMain for a contender whose generated methods encoding/json would call. Its type
// and its copy without methods are the same in memory.
const bareMain = `
// bare is a document without the methods that were generated, in the same memory.
func bare(v any) any {
	if d, ok := v.(*%s); ok {
		return (*plain.%s)(unsafe.Pointer(d))
	}
	return v
}
`

// easyjsonMain is the file that gives the leaf the type, or why there can be
// none.
func easyjsonMain(t Type) (text, why string) {
	if t.Why != "" {
		return "", t.Why
	}
	if t.Root == "other" {
		return "", "it generates code for structs, slices and maps, and the document is none"
	}
	return fmt.Sprintf(userMain, "easyjson", "own."+rootName), ""
}

func ffjsonMain(t Type) (text, why string) {
	made := ""
	switch {
	case t.Why != "":
		return "", t.Why
	case t.Root == "struct":
		made = "own." + rootName
	case t.Root == "slice" && t.Item != "":
		made = fmt.Sprintf("list[own.%s, *own.%[1]s]", t.Item)
	default:
		return "", "it generates code for structs only, and the document is none"
	}
	text = fmt.Sprintf(userMain, "ffjson", made) + fmt.Sprintf(bareMain, made, rootName)
	return strings.Replace(text, "import own", "import \"unsafe\"\nimport plain \"github.com/tarebench/tare/contenders/codec/ffjson/user/plain\"\nimport own", 1), ""
}

// file is a file of the leaf, by slash path from the bench.
func (g generated) file(name string) string { return "contenders/codec/" + g.name + "/" + name }

// types is the source of the copied type, in package user.
func (g generated) types(t Type) string {
	mark := ""
	if g.mark != "" {
		mark = "//\n" + g.mark + "\n"
	}
	return "// Package user holds a copy of the user's own type.\npackage user\n\n" + t.imports() + marked(t.Source, mark)
}

// plain is the source of the copied type in a package that no code is generated for.
func (t Type) plain() string {
	return "// Package plain holds a copy of the user's own type without methods.\npackage plain\n\n" + t.imports() + t.Source
}

// refusal says that a generator cannot make code for a type. Any other error is
// the machine's: the next run may do better.
type refusal struct{ error }

// generate makes code for the type. Where that fails it makes code for a plain
// struct: if that fails too, e.g. because the generator cannot be downloaded or the
// disk is full, nothing is known about the type.
func (g generated) generate(ctx context.Context, run gocmd.Go, bench string, t Type) error {
	err := g.try(ctx, run, bench, t)
	if err == nil || ctx.Err() != nil || errors.Is(err, build.ErrNoToolchain) {
		return err
	}
	plain := Type{Source: "// Document is.\ntype " + rootName + " struct{ A int }\n"}
	if errors.Is(err, gocmd.ErrTooLong) || g.try(ctx, run, bench, plain) != nil {
		return fmt.Errorf("%w; the next run tries again", err)
	}
	return refusal{err}
}

// try runs the generator on the type alone and sees whether what it made compiles.
func (g generated) try(ctx context.Context, run gocmd.Go, bench string, t Type) error {
	dir := filepath.Join(bench, filepath.FromSlash(g.file("user")))
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	files := map[string]string{"user.go": g.types(t)}
	if g.bare {
		files["plain/plain.go"] = t.plain()
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
