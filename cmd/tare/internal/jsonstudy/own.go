package jsonstudy

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/gocmd"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/lab"
)

// bridgeName is the last part of the path of a module in the cache that names the user's type. The
// path begins as that of the user's module, so that it may import internal packages there.
const bridgeName = "tare_json_document"

// TypeError reports why a type cannot be measured, and what would be right.
type TypeError struct {
	Type string // as the user named it
	What string
	Hint string // may be empty
}

// Error is one line.
func (e *TypeError) Error() string {
	s := "--type " + e.Type + ": " + e.What
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// Own is a type of the user's own module.
type Own struct {
	Import string // path of its package
	Type   string // its name there

	path        string     // of the module, or of the one of a workspace whose package it is
	goLine      string     // its Go version
	modules     []ownMain  // the main modules around the user
	replace     [][]string // further replacements, as go mod edit -replace takes them
	sums        string     // lines for go.sum
	fingerprint string     // hash of all that decides which modules are linked
}

// ownMain is a module the user works on.
type ownMain struct{ Path, Dir, GoVersion string }

// listedPackage is a package as go list shows it.
type listedPackage struct {
	ImportPath, Name, Dir string
	Standard              bool
	Module                *struct {
		Path string
		Main bool
	}
	Error *struct{ Err string }
}

// Find finds the type import/path.Type, or ./dir.Type, or ./.Type of dir itself, as the go command
// sees it from the directory dir.
func Find(ctx context.Context, tag, dir, spec string) (*Own, error) {
	wrong := func(what, hint string) error { return &TypeError{spec, what, hint} }
	at := strings.LastIndexByte(spec, '.')
	if at <= strings.LastIndexByte(spec, '/')+1 && spec[:max(at, 0)] != "./" || !token.IsIdentifier(spec[at+1:]) {
		return nil, wrong("not the name of a type", "write import/path.Type or ./dir.Type, e.g. example.com/shop/order.Order, or ./.Order for the package here")
	}
	o := &Own{Import: spec[:at], Type: spec[at+1:]}
	if !token.IsExported(o.Type) {
		return nil, wrong(o.Type+" is not exported", "only an exported type can be used from elsewhere")
	}
	run := gocmd.Go{Tag: tag}
	out, err := run.AsUser(ctx, dir, "list", "-e", "-json=ImportPath,Name,Dir,Standard,Module,Error", o.Import)
	if err != nil {
		return nil, typeError(ctx, err, wrong)
	}
	var p listedPackage
	if err := json.Unmarshal([]byte(out), &p); err != nil {
		return nil, wrong("the go command does not say what that package is", "name one package, e.g. example.com/shop/order.Order")
	}
	hint := "run tare json inside your module and write import/path.Type or ./dir.Type; go list " + o.Import + " shows what the go command finds"
	switch {
	case p.Error != nil && strings.Contains(p.Error.Err, noModule):
		return nil, typeError(ctx, errors.New(noModule), wrong)
	case p.Error != nil:
		return nil, wrong(gocmd.Complaint(p.Error.Err, errors.New("no such package")), hint)
	case p.Standard || p.Module == nil:
		return nil, wrong(o.Import+" is no package of a module of yours", hint)
	case p.Name == "main":
		return nil, wrong(o.Import+" is package main, which nothing can import", "move the type into a package of its own")
	}
	o.Import = p.ImportPath
	if err := o.modulesAround(ctx, run, dir); err != nil {
		return nil, typeError(ctx, err, wrong)
	}
	for _, m := range o.modules {
		if m.Path == p.Module.Path {
			o.path, o.goLine = m.Path, m.GoVersion
		}
	}
	if o.path == "" {
		return nil, wrong(fmt.Sprintf("%s is of the module %s, which is not the one you are in", o.Import, p.Module.Path), "run tare json inside that module")
	}
	deps, err := run.AsUser(ctx, dir, "list", "-e", "-deps", o.Import)
	if err != nil {
		return nil, typeError(ctx, err, wrong)
	}
	o.fingerprint = fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%+v\n%q\n%s\n%s\n", o.modules, o.replace, o.sums, deps)))
	return o, nil
}

// noModule is a part of the go command's message outside of every module.
const noModule = "go.mod file not found"

// typeError turns an error of the go command into one about the type. A cancelled ctx and a missing
// go command stay as they are.
func typeError(ctx context.Context, err error, wrong func(what, hint string) error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	text := err.Error()
	if strings.Contains(text, noModule) || strings.Contains(text, "cannot find main module") {
		return wrong("there is no go.mod here or above", "run tare json inside your module")
	}
	if strings.Contains(text, "executable file not found") {
		return err
	}
	return wrong(text, "")
}

// modulesAround finds the user's module, or those of their workspace, and their replacements: those
// of other modules do not count.
func (o *Own) modulesAround(ctx context.Context, run gocmd.Go, dir string) error {
	out, err := run.AsUser(ctx, dir, "list", "-m", "-json=Path,Dir,GoVersion")
	if err != nil {
		return err
	}
	for d := json.NewDecoder(strings.NewReader(out)); ; {
		var m ownMain
		if err := d.Decode(&m); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		if m.Path == "command-line-arguments" {
			return errors.New("cannot find main module")
		}
		o.modules = append(o.modules, m)
	}
	work, err := run.AsUser(ctx, dir, "env", "GOWORK")
	if err != nil {
		return err
	}
	if work = strings.TrimSpace(work); work != "" && work != "off" {
		if err := o.addReplaces(ctx, run, filepath.Dir(work), "work", "edit", "-json", work); err != nil {
			return err
		}
		if err := o.addSumFile(filepath.Join(filepath.Dir(work), "go.work.sum")); err != nil {
			return err
		}
	}
	for _, m := range o.modules {
		if err := o.addReplaces(ctx, run, m.Dir, "mod", "edit", "-json", filepath.Join(m.Dir, "go.mod")); err != nil {
			return err
		}
		if err := o.addSumFile(filepath.Join(m.Dir, "go.sum")); err != nil {
			return err
		}
	}
	return nil
}

// addReplaces adds the replacements of a go.mod or go.work in dir. The first of a module counts;
// one of a module of the workspace itself, or of the SDK, does not.
func (o *Own) addReplaces(ctx context.Context, run gocmd.Go, dir string, args ...string) error {
	out, err := run.In(ctx, dir, args...)
	if err != nil {
		return err
	}
	var file struct {
		Replace []struct {
			Old, New struct{ Path, Version string }
		}
	}
	if err := json.Unmarshal([]byte(out), &file); err != nil {
		return err
	}
	for _, r := range file.Replace {
		from, to := r.Old.Path, r.New.Path
		if r.Old.Version != "" {
			from += "@" + r.Old.Version
		}
		if r.New.Version != "" {
			to += "@" + r.New.Version
		} else if !filepath.IsAbs(to) {
			to = filepath.Join(dir, to)
		}
		own := slices.ContainsFunc(o.modules, func(m ownMain) bool { return m.Path == r.Old.Path })
		known := slices.ContainsFunc(o.replace, func(have []string) bool { return have[0] == from })
		if !own && !known && r.Old.Path != sdkPath {
			o.replace = append(o.replace, []string{from, to})
		}
	}
	return nil
}

// addSumFile adds the lines of a go.sum if it exists.
func (o *Own) addSumFile(file string) error {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	o.sums += strings.TrimRight(string(text), "\n") + "\n"
	return err
}

func (o *Own) bridgePath() string { return o.path + "/" + bridgeName }

// bridgeFiles returns the files of the module that names the type, in dir.
func (o *Own) bridgeFiles(dir string) map[string]string {
	return map[string]string{
		dir + "/go.mod": fmt.Sprintf("module %s\n\ngo %s\n", o.bridgePath(), o.goLine),
		dir + "/document.go": fmt.Sprintf("// Package document names the user's own type.\npackage document\n\nimport user %q\n\n"+
			"// %s is a whole document.\ntype %[2]s = user.%[3]s\n", o.Import, rootName, o.Type),
	}
}

// Sources returns sources whose programs do not count the user's own modules as something that a
// codec adds.
func (o *Own) Sources(sources lab.Sources) lab.Sources { return ownSources{sources, o} }

type ownSources struct {
	lab.Sources
	own *Own
}

// Program returns the inner one's, without the user's modules.
func (s ownSources) Program(ctx context.Context, kind, studyDir string, e tare.Entry) (build.Program, error) {
	p, err := s.Sources.Program(ctx, kind, studyDir, e)
	c := &p.Contender
	before := len(c.Modules)
	c.Modules = slices.DeleteFunc(slices.Clone(c.Modules), func(m tare.Module) bool {
		return m.Path == s.own.bridgePath() || slices.ContainsFunc(s.own.modules, func(o ownMain) bool { return o.Path == m.Path })
	})
	c.Adoption.ModulesLinked -= before - len(c.Modules)
	return p, err
}
