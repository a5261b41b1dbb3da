package cli

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/tarebench/tare/cgocopy/internal/emit"
)

const genHelp = `cgocopy gen writes Go types, and methods that fill them from C memory.

  cgocopy gen -type GameObject,Person game.h
  cgocopy gen -type device_list -tag 'device_list.items=,len=items_count' devices.h -- -Iinclude
  cgocopy gen -type Sensor -object target/release/libsensor.o -repr-c

  -type NAMES     structs, separated by commas: a typedef's name or a tag
  -tag M=WORDS    how struct.member is taken over, in words that commas separate; may be
                  given more than once:
                  -  leave it out          len=MEMBER  a pointer and a count
                  string|bytes  of a char or byte array      max=N   most elements or bytes
                  utf8=keep|replace|error  opaque            depth=N pointers may follow
                  union=MEMBER:0:first,1:second; of a union whose members all begin with
                  MEMBER: -tag 'event=union=type:0:key,1:button'
                  free=FUNCTION  TakeFromC frees it; of a whole struct: -tag 'person=,free=person_free'
  -omit pointers  leave out all pointers that no -tag names; the output lists them
  -func CALL      write a Go function that calls C, copies what it gives and frees it; may be
                  given more than once:  'list_devices(bus, out, len) error free=free_devices'
                  In brackets a word for each parameter: out and len are what is given and
                  how many, all others are passed through. Behind them what is returned:
                  error (a code; error=FUNCTION says what it means), ok (zero: it failed),
                  len, out, or nothing. Then free=FUNCTION, or free='FUNCTION(out,len)', and
                  as=NAME for Go. -tag 'list_devices.out=,max=99' says more about out
  -abi FILE.c     write a C file too, for the library to be built with: CheckABI in Go compares
                  what it says of the library that is loaded
  -o FILE         what is written (default z_cgocopy.go); further files are named after it
  -pkg NAME       its package (default: that of the directory)
  -object FILE    read the types from an object file, or an archive of them, not from headers
  -repr-c         structs of Rust are repr(C), which object files do not say
  -c++            the headers are C++
  -no-test        write no test in which C fills the structs and Go compares
  -build TEXT     build constraint of the files, e.g. 'linux && amd64'

The compiler is CC, or gcc or clang; its flags are what follows --, CGO_CFLAGS,
and what #cgo lines and pkg-config say in the Go files beside the output.
`

// texts is a flag that may be given more than once.
type texts []string

func (t *texts) String() string     { return strings.Join(*t, " ") }
func (t *texts) Set(s string) error { *t = append(*t, s); return nil }

// options has the values of a command line of gen. genHelp describes the flags.
type options struct {
	types   []string
	tags    texts
	out     string
	pkg     string
	object  string
	reprC   bool
	cxx     bool
	build   string
	noTest  bool
	omit    string
	funcs   texts
	abi     string
	headers []string
	flags   []string // flags for the compiler
	words   []string // the command line, for the first line of files
	dir     string   // directory to which paths are relative; "" means the working directory
}

// parseGenArgs parses the arguments of gen.
func parseGenArgs(args []string) (options, error) {
	o := options{words: append([]string{"cgocopy", "gen"}, args...)}
	ours, compilerFlags := splitArgs(args)
	o.flags = compilerFlags
	f := newFlagSet("gen")
	var names string
	f.StringVar(&names, "type", "", "")
	f.Var(&o.tags, "tag", "")
	f.StringVar(&o.out, "o", "z_cgocopy.go", "")
	f.StringVar(&o.pkg, "pkg", "", "")
	f.StringVar(&o.object, "object", "", "")
	f.BoolVar(&o.reprC, "repr-c", false, "")
	f.BoolVar(&o.cxx, "c++", false, "")
	f.StringVar(&o.build, "build", "", "")
	f.BoolVar(&o.noTest, "no-test", false, "")
	f.StringVar(&o.omit, "omit", "", "")
	f.Var(&o.funcs, "func", "")
	f.StringVar(&o.abi, "abi", "", "")
	var err error
	if o.headers, err = parseFlags(f, ours); err != nil {
		return o, err
	}
	for name := range strings.SplitSeq(names, ",") {
		if name = strings.TrimSpace(name); name != "" {
			o.types = append(o.types, name)
		}
	}
	switch {
	case len(o.types) == 0 && len(o.funcs) == 0:
		return o, usageErrorf("no -type; name the structs, e.g. -type GameObject")
	case o.omit != "" && o.omit != "pointers":
		return o, usageErrorf("-omit %s: what can be omitted is pointers", o.omit)
	case len(o.headers) == 0 && o.object == "":
		return o, usageErrorf("no header; e.g. cgocopy gen -type GameObject game.h")
	case len(o.headers) > 0 && o.object != "":
		return o, usageErrorf("both headers and -object; keep one")
	case !strings.HasSuffix(o.out, ".go") || strings.HasSuffix(o.out, "_test.go"):
		return o, usageErrorf("-o %s is no name for a Go file", o.out)
	case !filepath.IsLocal(filepath.FromSlash(o.out)):
		return o, usageErrorf("-o %s is not below the current directory; run it where that is so, as cgocopy check will", o.out)
	case o.object != "" && (o.abi != "" || len(o.funcs) > 0):
		return o, usageErrorf("-abi and -func need headers, and there is -object")
	case o.abi != "" && filepath.Ext(o.abi) != ".c":
		return o, usageErrorf("-abi %s is no name for a C file", o.abi)
	}
	return o, o.checkWords()
}

// runGen runs the command gen.
func runGen(ctx context.Context, args []string, out io.Writer) error {
	o, err := parseGenArgs(args)
	if err != nil {
		return err
	}
	files, err := generateFiles(ctx, o)
	if err != nil {
		return err
	}
	return o.storeFiles(ctx, files)
}

// generateFiles returns all files of a command line of gen. It writes no file, so that an error changes
// none.
func generateFiles(ctx context.Context, o options) ([]outputFile, error) {
	p, err := o.makePlan(ctx)
	if err != nil {
		return nil, err
	}
	if o.pkg == "" {
		if o.pkg, err = packageOf(filepath.Join(o.dir, filepath.Dir(o.out)), o.buildConstraint()); err != nil {
			return nil, err
		}
	}
	return o.formatFiles(ctx, emit.Unit{Package: o.pkg, Plan: p})
}

// formatFiles returns all files of a plan. The first file has the types. Before that it makes the compiler
// confirm the layout.
func (o options) formatFiles(ctx context.Context, u emit.Unit) ([]outputFile, error) {
	u.Command, u.Headers, u.Name = quoteWords(o.words), fromPackage(o), unitName(o.out)
	u.Flags, u.CXX, u.ABI = flagsFromPackage(o), o.cxx, o.abi != ""
	var err error
	if u.Undefine, err = o.findMacros(ctx, u.Plan); err != nil {
		return nil, err
	}
	if err := o.confirmLayout(ctx, u.Plan, u.Undefine); err != nil {
		return nil, err
	}
	var list []outputFile
	hasHeaders := o.object == ""
	hasCHeaders := hasHeaders && !o.cxx // cgo cannot include C++
	for _, k := range []struct {
		suffix   string
		write    func(emit.Unit) ([]byte, error)
		isWanted bool
	}{
		{".go", emit.Copy, true},
		{"_assert.go", emit.Assert, hasCHeaders},
		{"_cgo.go", emit.Cgo, hasCHeaders && emit.HasCgo(u.Plan)},
		{"_test.go", emit.Test, hasHeaders && !o.noTest},
	} {
		if !k.isWanted {
			continue
		}
		// The name of the first file may end with its platform, e.g. z_linux.go. The names of further
		// files end with their suffix, so that these files need a constraint.
		if u.Build = o.build; k.suffix != ".go" {
			u.Build = o.buildConstraint()
		}
		src, err := k.write(u)
		if err != nil {
			return nil, err
		}
		list = append(list, outputFile{strings.TrimSuffix(o.out, ".go") + k.suffix, src})
	}
	if o.abi != "" {
		u.Headers = o.headers
		list = append(list, outputFile{o.abi, emit.ABI(u)})
	}
	return list, nil
}
