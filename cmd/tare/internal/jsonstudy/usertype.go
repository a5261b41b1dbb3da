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

// bridgeName is the end of the path of the bridge, a module with an alias of the user's type. The path
// begins with the user's module, whose internal packages it imports.
const bridgeName = "tare_json_document"

// TypeError reports why a type cannot be measured, and what to do.
type TypeError struct {
	Type string // name that the user typed
	What string // the reason
	Hint string // how to correct it; may be ""
}

func (e *TypeError) Error() string {
	s := "--type " + e.Type + ": " + e.What
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// UserType is a type of the user's module, selected by tare json --type.
type UserType struct {
	Import string // import path of the package
	Type   string // name of the type

	path        string       // path of the package's module
	goLine      string       // Go version of the module
	modules     []mainModule // one, or all of a workspace
	replace     [][2]string  // old and new, as in go mod edit -replace=old=new
	sums        string       // lines of the main modules' go.sum files
	fingerprint string       // hash of everything that decides which modules are linked
}

type mainModule struct{ Path, Dir, GoVersion string }

// listedPackage is a part of go list's output.
type listedPackage struct {
	ImportPath, Name, Dir string
	Standard              bool
	Module                *struct {
		Path string
		Main bool
	}
	Error *struct{ Err string }
}

// Find finds the package of the type that spec names: import/path.Type, ./dir.Type, or ./.Type in the
// package of dir. The go command runs in dir, with tag in the environment. Find does not check that the
// package declares the type; Bench.Describe does. An error about spec is a *TypeError.
func Find(ctx context.Context, tag, dir, spec string) (*UserType, error) {
	newError := func(what, hint string) error { return &TypeError{Type: spec, What: what, Hint: hint} }
	dot := strings.LastIndexByte(spec, '.')
	lastElement := strings.LastIndexByte(spec, '/') + 1
	hasPackage := dot > lastElement || spec[:max(dot, 0)] == "./" // order.Order, or ./.Order
	if !hasPackage || !token.IsIdentifier(spec[dot+1:]) {
		return nil, newError("not the name of a type", "write import/path.Type or ./dir.Type, e.g. example.com/shop/order.Order, or ./.Order for the package of this directory")
	}
	o := &UserType{Import: spec[:dot], Type: spec[dot+1:]}
	if !token.IsExported(o.Type) {
		return nil, newError(o.Type+" is not exported", "only an exported type can be used from elsewhere")
	}
	run := gocmd.Go{Tag: tag}
	out, err := run.AsUser(ctx, dir, "list", "-e", "-json=ImportPath,Name,Dir,Standard,Module,Error", o.Import)
	if err != nil {
		return nil, typeError(ctx, err, newError)
	}
	var p listedPackage
	if err := json.Unmarshal([]byte(out), &p); err != nil {
		return nil, newError("the go command does not say what that package is", "name one package, e.g. example.com/shop/order.Order")
	}
	hint := "run tare json inside your module and write import/path.Type or ./dir.Type; go list " + o.Import + " shows what the go command finds"
	switch {
	case p.Error != nil && strings.Contains(p.Error.Err, noModule):
		return nil, typeError(ctx, errors.New(noModule), newError)
	case p.Error != nil:
		return nil, newError(gocmd.Complaint(p.Error.Err, errors.New("no such package")), hint)
	case p.Standard || p.Module == nil:
		return nil, newError(o.Import+" is no package of a module of yours", hint)
	case p.Name == "main":
		return nil, newError(o.Import+" is package main, which nothing can import", "move the type into a package of its own")
	}
	o.Import = p.ImportPath
	if err := o.addModules(ctx, run, dir); err != nil {
		return nil, typeError(ctx, err, newError)
	}
	for _, m := range o.modules {
		if m.Path == p.Module.Path {
			o.path, o.goLine = m.Path, m.GoVersion
		}
	}
	if o.path == "" {
		return nil, newError(fmt.Sprintf("%s is of the module %s, which is not the one you are in", o.Import, p.Module.Path), "run tare json inside that module")
	}
	deps, err := run.AsUser(ctx, dir, "list", "-e", "-deps", o.Import)
	if err != nil {
		return nil, typeError(ctx, err, newError)
	}
	o.fingerprint = fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%+v\n%q\n%s\n%s\n", o.modules, o.replace, o.sums, deps)))
	return o, nil
}

// noModule is from the go command's message in a directory without a module.
const noModule = "go.mod file not found"

// typeError converts an error of the go command to an error about the type.
func typeError(ctx context.Context, err error, newError func(what, hint string) error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	text := err.Error()
	if strings.Contains(text, noModule) || strings.Contains(text, "cannot find main module") {
		return newError("there is no go.mod in this directory or above", "run tare json inside your module")
	}
	if strings.Contains(text, "executable file not found") {
		return err
	}
	return newError(text, "")
}

// addModules adds the user's module, or all of the workspace.
func (o *UserType) addModules(ctx context.Context, run gocmd.Go, dir string) error {
	out, err := run.AsUser(ctx, dir, "list", "-m", "-json=Path,Dir,GoVersion")
	if err != nil {
		return err
	}
	for d := json.NewDecoder(strings.NewReader(out)); ; {
		var m mainModule
		if err := d.Decode(&m); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		if m.Path == "command-line-arguments" { // printed in a directory without a module
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

// addReplaces adds the replacements in a go.mod or go.work, which the go command prints as JSON. The
// first of several counts. The bench itself replaces main modules and the SDK.
func (o *UserType) addReplaces(ctx context.Context, run gocmd.Go, dir string, args ...string) error {
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
		isMain := slices.ContainsFunc(o.modules, func(m mainModule) bool { return m.Path == r.Old.Path })
		isKnown := slices.ContainsFunc(o.replace, func(known [2]string) bool { return known[0] == from })
		if !isMain && !isKnown && r.Old.Path != sdkPath {
			o.replace = append(o.replace, [2]string{from, to})
		}
	}
	return nil
}

func (o *UserType) addSumFile(file string) error {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	o.sums += strings.TrimRight(string(text), "\n") + "\n"
	return err
}

func (o *UserType) bridgePath() string { return o.path + "/" + bridgeName }

// bridgeFiles returns the bridge's files in dir, by path.
func (o *UserType) bridgeFiles(dir string) map[string]string {
	return map[string]string{
		dir + "/go.mod": fmt.Sprintf("module %s\n\ngo %s\n", o.bridgePath(), o.goLine),
		dir + "/document.go": fmt.Sprintf("// Package document names the user's own type.\npackage document\n\nimport user %q\n\n"+
			"// %s is a whole document.\ntype %[2]s = user.%[3]s\n", o.Import, rootName, o.Type),
	}
}

// Sources returns sources of codec programs that do not list the user's modules and the bridge. The
// report shows the modules that a codec would add to the user's program.
func (o *UserType) Sources(sources lab.Sources) lab.Sources { return userSources{sources, o} }

// userSources builds programs with the user's type.
type userSources struct {
	lab.Sources
	user *UserType
}

// Program returns the program without the user's modules and the bridge.
func (s userSources) Program(ctx context.Context, kind, studyDir string, e tare.Entry) (build.Program, error) {
	p, err := s.Sources.Program(ctx, kind, studyDir, e)
	c := &p.Contender
	before := len(c.Modules)
	c.Modules = slices.DeleteFunc(slices.Clone(c.Modules), func(m tare.Module) bool {
		isUsers := slices.ContainsFunc(s.user.modules, func(main mainModule) bool { return main.Path == m.Path })
		return isUsers || m.Path == s.user.bridgePath()
	})
	c.Adoption.ModulesLinked -= before - len(c.Modules)
	return p, err
}
