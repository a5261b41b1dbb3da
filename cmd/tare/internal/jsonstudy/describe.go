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

// describer is the source of a program that prints a copy of the declaration of the user's type as
// JSON. The program is compiled with the type and inspects it by reflection. So build tags and
// generated files do not matter.
//
//go:embed describe.go.txt
var describer string

// Describe returns a copy of the declaration of the user's type, for code generators. If the type does
// not compile, the error is a *TypeError.
func (b Bench) Describe(ctx context.Context, o *UserType) (Type, error) {
	tmp, err := makeTemp(filepath.Join(b.Cache, "document"), ".describing-")
	if err != nil {
		return Type{}, err
	}
	defer os.RemoveAll(tmp)
	files := o.bridgeFiles("own")
	var paths []string // quoted
	for _, m := range o.modules {
		paths = append(paths, fmt.Sprintf("%q", m.Path))
	}
	files["own/describe/main.go"] = strings.NewReplacer("BRIDGE", o.bridgePath(), "OWN", strings.Join(paths, ", ")).Replace(describer)
	if err := gocmd.WriteAll(tmp, files); err != nil {
		return Type{}, fmt.Errorf("%w %s: %w", build.ErrCache, tmp, err)
	}
	run, dir := gocmd.Go{Tag: b.Run}, filepath.Join(tmp, "own")
	spec := o.Import + "." + o.Type
	newError := func(what, hint string) error { return &TypeError{Type: spec, What: what, Hint: hint} }
	const noBridge = "" // dir is the bridge itself
	if err := o.requireIn(ctx, run, dir, noBridge); err != nil {
		return Type{}, typeError(ctx, err, newError)
	}
	out, err := run.In(ctx, dir, "run", "./describe")
	if err != nil {
		text := err.Error()
		switch {
		case strings.Contains(text, "undefined: user."+o.Type):
			return Type{}, newError(fmt.Sprintf("there is no type %s in %s", o.Type, o.Import), "")
		case strings.Contains(text, "user."+o.Type) && strings.Contains(text, "is not a type"):
			return Type{}, newError(o.Type+" is not a type", "")
		case strings.Contains(text, "without instantiation"):
			return Type{}, newError(o.Type+" is generic", "declare a type for the instance you use, e.g. type Page = Paged[Order]")
		}
		return Type{}, typeError(ctx, errors.New(o.relativeTo(dir, text)), newError)
	}
	t := Type{}
	if err := json.Unmarshal([]byte(out), &t); err != nil {
		return Type{}, newError("cannot be looked at: "+err.Error(), "")
	}
	t.Name = spec
	return t, nil
}

// relativeTo returns an error of the compiler, "file.go:line:column: text", with the path relative to
// the user's module. In complaint the path is absolute or relative to dir.
func (o *UserType) relativeTo(dir, complaint string) string {
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
