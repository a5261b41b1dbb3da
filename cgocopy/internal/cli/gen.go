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

  -type NAMES     structs, separated by commas: the name of a typedef, or a tag
  -tag M=WORDS    how struct.member is copied; WORDS are separated by commas. The flag may be
                  given more than once:
                  -                       omit the member
                  len=MEMBER              a pointer to elements; MEMBER has their number
                  max=N                   copy at most N elements or bytes
                  string, bytes           copy a char or byte array as a string or as bytes
                  utf8=keep|replace|error what to do with text that is not UTF-8
                  opaque                  copy the address in a pointer, as a number
                  depth=N                 follow at most N pointers one after another
                  union=MEMBER:0:first,1:second
                                          a union; MEMBER of the struct shows which member is
                                          valid. If all members of a union begin with MEMBER:
                                          -tag 'event=union=type:0:key,1:button'
                  free=FUNCTION           TakeFromC frees the target of the pointer; for a
                                          complete struct: -tag 'person=,free=person_free'
  -omit pointers  omit all pointers that no -tag names; the output lists them
  -func CALL      write a Go function that calls a C function, copies its output and frees it.
                  The flag may be given more than once:
                  'list_devices(bus, out, len) error free=free_devices'
                  In brackets is a name for each parameter: out is the output, len the number of
                  its elements, and all others are passed from Go. After the brackets is the
                  meaning of the result: error (a code; error=FUNCTION describes it), ok (0 is a
                  failure), len, out, or nothing. Then free=FUNCTION or free='FUNCTION(out,len)',
                  and as=NAME for Go. -tag 'list_devices.out=,max=99' is the tag of the output
  -abi FILE.c     also write a C file to build into the library: CheckABI in Go then compares the
                  layout of the loaded library
  -o FILE         the output (default z_cgocopy.go); further files are named after it
  -pkg NAME       package of the output (default: the package in its directory)
  -object FILE    read the types from an object file, or an archive of them, instead of headers
  -repr-c         the structs of Rust are repr(C), which object files do not show
  -c++            the headers are C++
  -no-test        write no test in which C fills the structs and Go compares
  -build TEXT     build constraint of the files, e.g. 'linux && amd64'

The compiler is CC, or gcc or clang. Its flags are the arguments after --, CGO_CFLAGS,
and the flags of #cgo lines and pkg-config in the Go files next to the output.
`

// texts is a flag that may be given more than once.
type texts []string

func (t *texts) String() string     { return strings.Join(*t, " ") }
func (t *texts) Set(s string) error { *t = append(*t, s); return nil }

// options is a command line of gen. genHelp describes the flags.
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
	flags   []string // for the compiler
	words   []string // the command line, for the first line of files
	dir     string   // directory to which paths are relative; "" means the working directory
}

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

// generateFiles returns all files of a command line of gen. It writes nothing.
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

// formatFiles returns all files of a plan. The first file has the types. The compiler confirms the layout
// before.
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
		// The platform in the name of the first file, e.g. z_linux.go, is not in the names of the others.
		// So these need a constraint.
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
