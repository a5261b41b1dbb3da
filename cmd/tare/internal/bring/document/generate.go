package document

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

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
	switch {
	case t.Why != "":
		return "", t.Why
	case t.Root == "struct":
		return fmt.Sprintf(userMain, "ffjson", "own."+rootName), ""
	case t.Root == "slice" && t.Item != "":
		return fmt.Sprintf(userMain, "ffjson", fmt.Sprintf("list[own.%s, *own.%[1]s]", t.Item)), ""
	}
	return "", "it generates code for structs only, and the document is none"
}

// file is a file of the leaf, by slash path from the bench.
func (g generated) file(name string) string { return "contenders/codec/" + g.name + "/" + name }

// types is the source of the copied type.
func (g generated) types(t Type) string {
	mark := ""
	if g.mark != "" {
		mark = "//\n" + g.mark + "\n"
	}
	return "// Package user holds a copy of the user's own type.\npackage user\n\n" + t.imports() + marked(t.Source, mark)
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
	if err := gocmd.WriteAll(dir, map[string]string{"user.go": g.types(t)}); err != nil {
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
