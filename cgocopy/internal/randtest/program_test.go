package randtest

import (
	"fmt"
	"strings"
)

// fillSource returns the C file of batch n. It has a function that fills the struct with a number.
func fillSource(p *program, n int) string {
	var all []string
	for _, name := range p.types {
		all = append(all, "fill_"+name)
	}
	return fmt.Sprintf("#include \"types%d.h\"\n%svoid fill%d(int i, void *p) {\n\tstatic void (*const all[])(void *) = {%s};\n\tall[i](p);\n}\n", n, p.fill.String(), n, strings.Join(all, ", "))
}

// fillGo returns the Go file of package fill, the only package with C code: other packages can be built
// with other flags without compiling C again.
func fillGo(batches int) string {
	var decls, cases strings.Builder
	for n := range batches {
		fmt.Fprintf(&decls, "// void fill%d(int i, void *p);\n", n)
		fmt.Fprintf(&cases, "\tcase %d:\n\t\tC.fill%d(C.int(i), p)\n", n, n)
	}
	return "package fill\n\n// #cgo CFLAGS: -g0 -O0 -w -Wno-psabi\n" + decls.String() + "import \"C\"\n\nimport \"unsafe\"\n\n// Fill fills p, the struct of number i in a batch.\nfunc Fill(batch, i int, p unsafe.Pointer) {\n\tswitch batch {\n" + cases.String() + "\t}\n}\n"
}

// targets returns the Go file that lists the structs of batch n.
func targets(p *program, n int) string {
	var all strings.Builder
	for i, name := range p.types {
		goes := exported(name)
		fmt.Fprintf(&all, "\t{new(%s), Sizeof%s, %v},\n", goes, goes, p.tails[i])
	}
	return fmt.Sprintf("package batch%d\n\n// All are the structs, in the order of their numbers.\nvar All = []struct {\n\tInto any\n\tSize uintptr\n\tTail bool\n}{\n%s}\n", n, all.String())
}

// mainSource returns the Go file of the program. It checks all structs of the batch whose number is its
// first argument.
func mainSource(batches int) string {
	var imports, all strings.Builder
	for n := range batches {
		fmt.Fprintf(&imports, "import \"rand/batch%d\"\n", n)
		fmt.Fprintf(&all, "\tbatch%d.All,\n", n)
	}
	source := strings.Replace(mainBefore, "package main\n", "package main\n\n"+imports.String(), 1)
	return source + "var batches = [][]target{\n" + all.String() + "}\n"
}

const mainBefore = `package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"os"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"github.com/tarebench/tare/cgocopy"
	"rand/fill"
)

type target = struct {
	Into any
	Size uintptr
	Tail bool
}

// differ says where a value is not what an expression says; empty: it is.
func differ(src string, e ast.Expr, v reflect.Value) string {
	text := src[e.Pos()-1 : e.End()-1]
	said := func(got any) string {
		if g := fmt.Sprint(got); g != text {
			return g + ", not " + text
		}
		return ""
	}
	switch e := e.(type) {
	case *ast.CompositeLit:
		if v.Kind() != reflect.Struct {
			if v.Len() != len(e.Elts) {
				return fmt.Sprint(v.Len(), " elements, not ", len(e.Elts))
			}
			for i, x := range e.Elts {
				if d := differ(src, x, v.Index(i)); d != "" {
					return fmt.Sprint("[", i, "] ", d)
				}
			}
			return ""
		}
		said := map[string]bool{}
		for _, x := range e.Elts {
			kv := x.(*ast.KeyValueExpr)
			name := kv.Key.(*ast.Ident).Name
			said[name] = true
			if d := differ(src, kv.Value, v.FieldByName(name)); d != "" {
				return "." + name + " " + d
			}
		}
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; !said[name] && !v.Field(i).IsZero() {
				return "." + name + " is there"
			}
		}
		return ""
	case *ast.UnaryExpr:
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return "nil, not " + text
			}
			return differ(src, e.X, v.Elem())
		}
	case *ast.CallExpr:
		if !v.IsNil() {
			return "not nil"
		}
		return ""
	}
	switch v.Kind() {
	case reflect.String:
		want, err := strconv.Unquote(text)
		if err != nil || v.String() != want {
			return fmt.Sprintf("%q, not %s", v.String(), text)
		}
		return ""
	case reflect.Pointer:
		if !v.IsNil() {
			return "not nil"
		}
		return ""
	case reflect.Float32, reflect.Float64:
		return said(strconv.FormatFloat(v.Float(), 'g', -1, 64))
	case reflect.Bool:
		return said(v.Bool())
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return said(v.Uint())
	}
	return said(v.Int())
}

// edge is where memory ends: the page behind it cannot be read.
var edge = func() *byte {
	const room = 1 << 18
	b, err := syscall.Mmap(-1, 0, room+1<<16, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err == nil {
		err = syscall.Mprotect(b[room:], syscall.PROT_NONE)
	}
	if err != nil {
		panic(err)
	}
	return &b[room]
}()

// room is where C fills structs, aligned to 64 bytes.
var room = func() []byte {
	b, err := syscall.Mmap(-1, 0, 1<<17, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(err)
	}
	return b
}()

// look fills, in all ways there are, and returns what is wrong.
func look(batch, i int, t target, src string) string {
	want, err := parser.ParseExpr(src)
	if err != nil {
		return err.Error()
	}
	p := unsafe.Pointer(&room[0])
	fill.Fill(batch, i, p)
	from := t.Into.(interface{ FromC(unsafe.Pointer) error })
	v := reflect.ValueOf(t.Into)
	for _, how := range []string{"first", "again"} { // the second time into what is there
		if err := from.FromC(p); err != nil {
			return how + ": " + err.Error()
		}
		if d := differ(src, want, v.Elem()); d != "" {
			return how + ": " + d
		}
	}
	if t.Tail {
		return ""
	}
	const n = 3
	first := p
	p = unsafe.Add(unsafe.Pointer(edge), -n*int(t.Size)) // so that the last one ends where nothing may be read
	for i := range n {
		copy(unsafe.Slice((*byte)(unsafe.Add(p, i*int(t.Size))), t.Size), unsafe.Slice((*byte)(first), t.Size))
	}
	if err := from.FromC(unsafe.Add(p, (n-1)*int(t.Size))); err != nil {
		return "at the edge: " + err.Error()
	}
	if d := differ(src, want, v.Elem()); d != "" {
		return "at the edge: " + d
	}
	out := v.MethodByName("SliceFromC").Call([]reflect.Value{reflect.Zero(reflect.SliceOf(v.Type().Elem())), reflect.ValueOf(p), reflect.ValueOf(n)})
	if !out[1].IsNil() {
		return fmt.Sprint("slice: ", out[1])
	}
	for i := range n {
		if d := differ(src, want, out[0].Index(i)); d != "" {
			return "slice: " + d
		}
	}
	to, ok := t.Into.(interface{ ToC(unsafe.Pointer) error })
	if !ok {
		return ""
	}
	clear(unsafe.Slice((*byte)(p), t.Size))
	if err := to.ToC(p); errors.Is(err, cgocopy.ErrTooLong) {
		return "" // a text of N bytes came without a NUL
	} else if err != nil {
		return "back: " + err.Error()
	}
	v.Elem().SetZero()
	if err := from.FromC(p); err != nil {
		return "back: " + err.Error()
	}
	if d := differ(src, want, v.Elem()); d != "" {
		return "back: " + d
	}
	return ""
}

func main() {
	batch, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	data, err := os.ReadFile(os.Args[2])
	if err != nil {
		panic(err)
	}
	all := batches[batch]
	failed := 0
	for i, src := range strings.Split(strings.TrimRight(string(data), "\n"), "\n") {
		if d := look(batch, i, all[i], src); d != "" {
			fmt.Printf("%T%s\n", all[i].Into, d)
			failed++
		}
	}
	if failed > 0 {
		fmt.Println(failed, "differ")
		os.Exit(1)
	}
}

`
