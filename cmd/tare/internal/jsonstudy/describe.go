package jsonstudy

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/gocmd"
	"github.com/tarebench/tare/internal/build"
)

// describer is the program that copies a type by reflection, whatever tags and generated files its
// package is built from.
//
//go:embed describe.go.txt
var describer string

// Describe copies the user's type as far as generators of code need a copy. The error is about the
// type itself: it does not compile, or does not exist.
func (b Bench) Describe(ctx context.Context, o *Own) (Type, error) {
	all := filepath.Join(b.Cache, "document")
	if err := os.MkdirAll(all, 0o755); err != nil {
		return Type{}, fmt.Errorf("%w %s: %w", build.ErrCache, all, err)
	}
	tmp, err := os.MkdirTemp(all, ".describing-")
	if err != nil {
		return Type{}, fmt.Errorf("%w %s: %w", build.ErrCache, all, err)
	}
	defer os.RemoveAll(tmp)
	files := o.bridgeFiles("own")
	var paths []string
	for _, m := range o.modules {
		paths = append(paths, fmt.Sprintf("%q", m.Path))
	}
	files["own/describe/main.go"] = strings.NewReplacer("BRIDGE", o.bridgePath(), "OWN", strings.Join(paths, ", ")).Replace(describer)
	if err := gocmd.WriteAll(tmp, files); err != nil {
		return Type{}, fmt.Errorf("%w %s: %w", build.ErrCache, tmp, err)
	}
	run, dir := gocmd.Go{Tag: b.Run}, filepath.Join(tmp, "own")
	spec := o.Import + "." + o.Type
	wrong := func(what, hint string) error { return &TypeError{spec, what, hint} }
	if err := o.requireIn(ctx, run, dir, ""); err != nil {
		return Type{}, typeError(ctx, err, wrong)
	}
	out, err := run.In(ctx, dir, "run", "./describe")
	if err != nil {
		text := err.Error()
		switch {
		case strings.Contains(text, "undefined: user."+o.Type):
			return Type{}, wrong(fmt.Sprintf("there is no type %s in %s", o.Type, o.Import), "")
		case strings.Contains(text, "user."+o.Type) && strings.Contains(text, "is not a type"):
			return Type{}, wrong(o.Type+" is not a type", "")
		case strings.Contains(text, "without instantiation"):
			return Type{}, wrong(o.Type+" is generic", "declare a type for the instance you use, e.g. type Page = Paged[Order]")
		}
		return Type{}, typeError(ctx, errors.New(o.relativeTo(dir, text)), wrong)
	}
	t := Type{}
	if err := json.Unmarshal([]byte(out), &t); err != nil {
		return Type{}, wrong("cannot be looked at: "+err.Error(), "")
	}
	t.Name = spec
	return t, nil
}

// relativeTo returns a complaint that begins with a file relative to dir, with the file relative to
// the user's module.
func (o *Own) relativeTo(dir, complaint string) string {
	file, rest, ok := strings.Cut(complaint, ":")
	if !ok || !strings.HasSuffix(file, ".go") {
		return complaint
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	for _, m := range o.modules {
		if rel, err := filepath.Rel(m.Dir, file); err == nil && filepath.IsLocal(rel) {
			return rel + ":" + rest
		}
	}
	return file + ":" + rest
}
