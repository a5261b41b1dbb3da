package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/bind"
	"github.com/tarebench/tare/cgocopy/internal/cgoflags"
	"github.com/tarebench/tare/cgocopy/internal/emit"
	"github.com/tarebench/tare/cgocopy/internal/plan"
)

const bindHelp = `cgocopy bind writes methods that fill Go structs of your own from C memory.

  cgocopy bind -type Game=GameObject,Person game.h
  cgocopy bind -go ./ffi -type Game=GameObject include/game.h -- -Iinclude

  -type PAIRS     GO=C, separated by commas, or one name if both have the same
  -go DIR         the package that declares the structs, in or below this directory (default: this one)
  -o NAME         output, in the directory of the package (default z_cgocopy_bind.go)
  -object FILE    read the C types from an object file instead of headers
  -repr-c         the structs of Rust are repr(C), which object files do not show
  -c++            the headers are C++
  -no-test        write no test in which C fills the structs and Go compares
  -build TEXT     build constraint of the files, e.g. 'linux && amd64'

A field is filled from the C member that its tag names, or that has its name:
ItemsCount from items_count. Tags have the words of cgocopy gen's -tag:

  Items []Item  ` + "`cgocopy:\"items,len=items_count,max=1000\"`" + `
  Cache *entry  ` + "`cgocopy:\"-\"`" + `           not filled, like unexported fields

A number may be wider than in C, and have a type of yours. It may not be narrower
or lose a sign. You must also declare the structs in structs. Members that fill no
field are listed on standard error; a field without a member is an error.
`

// bindOptions is a command line of bind. The embedded options say how to read the C types, and where to
// write the files.
type bindOptions struct {
	options
	goDir   string   // directory of the Go package, relative to options.dir
	goTypes []string // name of the Go type for each of options.types; "" means the name of the C type
}

func parseBindArgs(args []string) (bindOptions, error) {
	var o bindOptions
	o.words = append([]string{"cgocopy", "bind"}, args...)
	var ours []string
	ours, o.flags = splitArgs(args)
	f := newFlagSet("bind")
	var pairs, name string
	f.StringVar(&pairs, "type", "", "")
	f.StringVar(&o.goDir, "go", ".", "")
	f.StringVar(&name, "o", "z_cgocopy_bind.go", "")
	f.StringVar(&o.object, "object", "", "")
	f.BoolVar(&o.reprC, "repr-c", false, "")
	f.BoolVar(&o.cxx, "c++", false, "")
	f.BoolVar(&o.noTest, "no-test", false, "")
	f.StringVar(&o.build, "build", "", "")
	var err error
	if o.headers, err = parseFlags(f, ours); err != nil {
		return o, err
	}
	for pair := range strings.SplitSeq(pairs, ",") {
		goName, cName, hasBoth := strings.Cut(strings.TrimSpace(pair), "=")
		if !hasBoth {
			goName, cName = "", goName
		}
		if cName = strings.TrimSpace(cName); cName != "" {
			o.goTypes, o.types = append(o.goTypes, strings.TrimSpace(goName)), append(o.types, cName)
		}
	}
	switch {
	case len(o.types) == 0:
		return o, usageErrorf("no -type; name Go and C types, e.g. -type Game=GameObject")
	case len(o.headers) == 0 && o.object == "":
		return o, usageErrorf("no header; e.g. cgocopy bind -type Game=GameObject game.h")
	case len(o.headers) > 0 && o.object != "":
		return o, usageErrorf("both headers and -object; keep one")
	case !filepath.IsLocal(o.goDir):
		return o, usageErrorf("-go %s is not below the current directory; run it where that is so, or in the package itself", o.goDir)
	case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || filepath.Base(name) != name:
		return o, usageErrorf("-o %s is no name for a Go file in the package's directory", name)
	}
	o.goDir = filepath.Clean(o.goDir)
	o.out = filepath.Join(o.goDir, name)
	return o, o.checkWords()
}

// bindTypes runs the command bind. It prints a note on stderr for each C member that fills no Go field.
func bindTypes(ctx context.Context, args []string, stderr io.Writer) error {
	o, err := parseBindArgs(args)
	if err != nil {
		return err
	}
	files, untaken, err := o.generateFiles(ctx)
	if err != nil {
		return err
	}
	for _, member := range untaken {
		fmt.Fprintf(stderr, "note: %s\n", member)
	}
	return o.storeFiles(ctx, files)
}

// generateFiles returns all files of a command line of bind, and the C members that fill no Go field. It
// writes nothing.
func (o bindOptions) generateFiles(ctx context.Context) ([]outputFile, []bind.Untaken, error) {
	f, found, unknown := o.findTypes(ctx)
	if f == nil {
		return nil, nil, unknown
	}
	src, err := bind.Load(cgoflags.Context(o.buildConstraint()), filepath.Join(o.dir, o.goDir), isOutputOf(o.out), cmp.Or(f.Arch, runtime.GOARCH))
	if err != nil {
		return nil, nil, err
	}
	var pairs []bind.Pair
	for i, name := range o.types {
		if found[name] == nil {
			continue
		}
		goName := o.goTypes[i]
		if goName == "" {
			goName = name
			if !src.Has(name) {
				goName = plan.Exported(name[1+strings.LastIndexByte(name, ' '):])
			}
		}
		pairs = append(pairs, bind.Pair{Go: goName, C: name, Type: found[name]})
	}
	r, err := bind.Derive(src, pairs, plan.Options{Word: maxAlign(f), Rust: o.reprC, Big: !f.Little})
	if err = errors.Join(unknown, err); err != nil {
		return nil, nil, err
	}
	if err := o.checkTarget(f); err != nil {
		return nil, nil, err
	}
	facts := emit.UserTypes{Imports: r.Imports, Wide: r.Wide}
	for _, u := range r.Untaken {
		facts.Untaken = append(facts.Untaken, u.Go+": "+u.Member)
	}
	if err := o.checkFreeFuncs(ctx, r.Plan); err != nil {
		return nil, nil, err
	}
	files, err := o.formatFiles(ctx, emit.Unit{Package: src.Name, Plan: r.Plan, UserTypes: facts})
	return files, r.Untaken, err
}

// checkFreeFuncs checks that the functions of free= in tags take one pointer.
func (o bindOptions) checkFreeFuncs(ctx context.Context, p *plan.Plan) error {
	names := map[string]string{} // TYPE.FIELD that names a function, by the function
	for _, s := range p.Structs {
		for _, f := range s.Fields {
			if f.Rule.Free != "" {
				names[f.Rule.Free] = s.Go + "." + f.Go
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	if o.object != "" || o.cxx {
		return fmt.Errorf("free= in tags needs headers in C")
	}
	functions := slices.Sorted(maps.Keys(names))
	_, found, err := o.findTypes(ctx, functions...)
	if err != nil {
		return err
	}
	var all []error
	for _, name := range functions {
		if !takesPointer(found[name+"()"], 1) {
			all = append(all, fmt.Errorf("%s: free=%s: it is no function of one pointer", names[name], name))
		}
	}
	return errors.Join(all...)
}

// parseRecordedBind parses the arguments of bind that are recorded in the file at path. The flag -go leads
// from the directory in which bind ran to that of the file.
func parseRecordedBind(path string, words []string) (bindOptions, error) {
	o, err := parseBindArgs(words)
	if err != nil {
		return o, err
	}
	o.dir = filepath.Dir(path)
	if o.goDir != "." {
		for range strings.Split(filepath.ToSlash(o.goDir), "/") {
			o.dir = filepath.Join(o.dir, "..")
		}
	}
	return o, nil
}
