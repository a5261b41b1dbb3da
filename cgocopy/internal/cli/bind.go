package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/bind"
	"github.com/tarebench/tare/cgocopy/internal/emit"
	"github.com/tarebench/tare/cgocopy/internal/plan"
)

const bindHelp = `cgocopy bind writes methods that fill Go structs of your own from C memory.

  cgocopy bind -type Game=GameObject,Person game.h
  cgocopy bind -go ./ffi -type Game=GameObject include/game.h -- -Iinclude

  -type PAIRS     GO=C, separated by commas; one name where both are called so
  -go DIR         the package that declares the structs (default: here); below here
  -o NAME         file that is written there (default z_cgocopy_bind.go)
  -object FILE    read the C types from an object file, not from headers
  -repr-c         structs of Rust are repr(C), which object files do not say
  -c++            the headers are C++
  -build TEXT     build constraint of the files, e.g. 'linux && amd64'

A field takes the member that its tag names, or that has its name: ItemsCount
takes items_count. Tags say more, in the words of cgocopy gen's -tag:

  Items []Item  ` + "`cgocopy:\"items,len=items_count,max=1000\"`" + `
  Cache *entry  ` + "`cgocopy:\"-\"`" + `           left alone, as fields without a capital are

A number may be wider than C's, and a type of yours; it may not be narrower or
lose a sign. Structs in structs must be your own too. Members that no field takes
are listed on standard error; a field that takes none is refused.
`

// bindOrder is what a command line asks to bind. The order in it says how C is
// read.
type bindOrder struct {
	order
	goDir string   // below order.dir
	goOf  []string // Go type of each of order.types; empty: called as that is
}

func readBind(args []string) (bindOrder, error) {
	var o bindOrder
	o.words = append([]string{"cgocopy", "bind"}, args...)
	var ours []string
	ours, o.flags = split(args)
	f := flags("bind")
	var pairs, name string
	f.StringVar(&pairs, "type", "", "")
	f.StringVar(&o.goDir, "go", ".", "")
	f.StringVar(&name, "o", "z_cgocopy_bind.go", "")
	f.StringVar(&o.object, "object", "", "")
	f.BoolVar(&o.reprC, "repr-c", false, "")
	f.BoolVar(&o.cxx, "c++", false, "")
	f.StringVar(&o.build, "build", "", "")
	var err error
	if o.headers, err = parse(f, ours); err != nil {
		return o, err
	}
	for pair := range strings.SplitSeq(pairs, ",") {
		goName, cName, both := strings.Cut(strings.TrimSpace(pair), "=")
		if !both {
			goName, cName = "", goName
		}
		if cName = strings.TrimSpace(cName); cName != "" {
			o.goOf, o.types = append(o.goOf, strings.TrimSpace(goName)), append(o.types, cName)
		}
	}
	switch {
	case len(o.types) == 0:
		return o, wrong("no -type; name Go and C types, e.g. -type Game=GameObject")
	case len(o.headers) == 0 && o.object == "":
		return o, wrong("no header; e.g. cgocopy bind -type Game=GameObject game.h")
	case len(o.headers) > 0 && o.object != "":
		return o, wrong("both headers and -object; keep one")
	case !filepath.IsLocal(o.goDir):
		return o, wrong("-go %s is not below here; run it where that is so, or in the package itself", o.goDir)
	case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || filepath.Base(name) != name:
		return o, wrong("-o %s is no name for a Go file in the package's directory", name)
	}
	o.goDir = filepath.Clean(o.goDir)
	o.out = filepath.Join(o.goDir, name)
	return o, nil
}

func bindTypes(ctx context.Context, args []string, stderr io.Writer) error {
	o, err := readBind(args)
	if err != nil {
		return err
	}
	files, left, err := o.generate(ctx)
	if err != nil {
		return err
	}
	for _, l := range left {
		fmt.Fprintf(stderr, "note: %s\n", l)
	}
	for _, f := range files {
		if err := replace(f.path, f.data); err != nil {
			return err
		}
	}
	return nil
}

// generate makes all files before one is written.
func (o bindOrder) generate(ctx context.Context) ([]written, []bind.Left, error) {
	f, found, err := o.find(ctx)
	if err != nil {
		return nil, nil, err
	}
	base := strings.TrimSuffix(filepath.Base(o.out), ".go")
	made := func(name string) bool { return name == base+".go" || strings.HasPrefix(name, base+"_") }
	src, err := bind.Load(goContext(o.build), filepath.Join(o.dir, o.goDir), made, orHost(f.Arch))
	if err != nil {
		return nil, nil, err
	}
	options := plan.Options{Word: 8, Rust: o.reprC, Big: !f.Little}
	if f.Arch == "386" || f.Arch == "arm" {
		options.Word = 4
	}
	var pairs []bind.Pair
	for i, name := range o.types {
		goName := o.goOf[i]
		if goName == "" {
			goName = name
			if !src.Has(name) {
				goName = plan.Exported(name[1+strings.LastIndexByte(name, ' '):])
			}
		}
		pairs = append(pairs, bind.Pair{Go: goName, C: name, Type: found[name]})
	}
	r, err := bind.Derive(src, pairs, options)
	if err != nil {
		return nil, nil, err
	}
	own := emit.Own{Imports: r.Imports, Wide: r.Wide}
	for _, l := range r.Left {
		own.Left = append(own.Left, l.Go+": "+l.Member)
	}
	u := emit.Unit{Package: src.Name, Command: quoted(o.words), Headers: o.fromPackage(), Build: o.build, Plan: r.Plan, Own: own}
	text, err := emit.Copy(u)
	if err != nil {
		return nil, nil, err
	}
	list := []written{{o.out, text}}
	if o.object == "" && !o.cxx {
		if text, err = emit.Assert(u); err != nil {
			return nil, nil, err
		}
		list = append(list, written{strings.TrimSuffix(o.out, ".go") + "_assert.go", text})
	}
	return list, r.Left, nil
}

// orHost is an architecture, where it is known, else that of this machine.
func orHost(arch string) string {
	if arch == "" {
		return runtime.GOARCH
	}
	return arch
}

// fromPackage are the headers as the package's directory sees them. Those that
// only the compiler's flags find stay as they are.
func (o bindOrder) fromPackage() []string {
	var list []string
	for _, h := range o.headers {
		if _, err := os.Stat(filepath.Join(o.dir, h)); err == nil && !filepath.IsAbs(h) {
			if rel, err := filepath.Rel(o.goDir, filepath.FromSlash(h)); err == nil {
				h = filepath.ToSlash(rel)
			}
		}
		list = append(list, h)
	}
	return list
}

// bindAgain reads the command that made the file at path.
func bindAgain(path string, words []string) (bindOrder, error) {
	o, err := readBind(words)
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
