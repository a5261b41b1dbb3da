// Package samecode compares the machine code of two builds of a test binary,
// function by function, with addresses masked. Where nothing that a benchmark
// can execute differs, a difference in its time comes from data, from the
// addresses of code, or from chance.
//
// Packages whose objects are the same file on both sides are skipped.
//
// What a benchmark can execute is over-estimated: every function that direct
// calls lead to from it, with the function literals in it, and every function
// that can be called indirectly: methods, and functions whose address stands in
// data. Functions that initialise packages are excluded, since their results
// are data, and so are other benchmarks and tests.
package samecode

import (
	"bytes"
	"debug/gosym"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// ErrUnknown reports a binary of a system or processor whose code this package cannot read.
var ErrUnknown = errors.New("its machine code cannot be read here")

// Program is the code of a binary.
type Program struct {
	functions map[string]function
	taken     map[string]bool     // functions whose address is in data
	literals  map[string][]string // function literals, by the function around them
}

// function is the code of a function with addresses masked, and the functions
// that it refers to.
type function struct {
	code   []byte
	refs   []string
	opaque bool // not all of it could be decoded
}

// equal compares the code of functions. A function in assembly that is local to its file has no
// package in its name; if it cannot be decoded only its length is compared, or each one of the
// runtime would be a difference.
func (f function) equal(g function, local bool) bool {
	if local && f.opaque && g.opaque {
		return len(f.code) == len(g.code)
	}
	return bytes.Equal(f.code, g.code)
}

// Open reads a binary.
func Open(path string) (*Program, error) {
	img, err := readImage(path)
	if err != nil {
		return nil, err
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(img.lines, img.textAddr))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	p := &Program{functions: make(map[string]function, len(table.Funcs)), taken: map[string]bool{}, literals: map[string][]string{}}
	names := make(map[uint64]string, len(table.Funcs))
	for _, f := range table.Funcs {
		names[f.Entry] = f.Name
	}
	entries := make([]uint64, 0, len(table.Funcs))
	for _, f := range table.Funcs {
		entries = append(entries, f.Entry)
	}
	slices.Sort(entries)
	at := func(addr uint64) (name string, offset uint64, ok bool) {
		i, exact := slices.BinarySearch(entries, addr)
		if !exact {
			i--
		}
		if i < 0 || addr-img.textAddr >= uint64(len(img.text)) {
			return "", 0, false
		}
		return names[entries[i]], addr - entries[i], true
	}
	for _, f := range table.Funcs {
		low, high := f.Entry-img.textAddr, f.End-img.textAddr
		if f.Entry < img.textAddr || high > uint64(len(img.text)) || low > high {
			continue
		}
		masked := img.mask(f.Entry, img.text[low:high], at)
		if old, ok := p.functions[f.Name]; ok { // of one name: as good as one function
			masked.code = slices.Concat(old.code, masked.code)
			masked.refs = append(masked.refs, old.refs...)
		}
		p.functions[f.Name] = masked
	}
	for name := range p.functions {
		if outer, ok := p.outerOf(name); ok {
			p.literals[outer] = append(p.literals[outer], name)
		}
	}
	for _, section := range img.data {
		for ; len(section) >= 8; section = section[8:] {
			if name, ok := names[binary.LittleEndian.Uint64(section)]; ok {
				p.taken[name] = true
			}
		}
	}
	return p, nil
}

// Difference names the functions that differ between two programs.
type Difference struct {
	a, b     *Program
	names    map[string]bool
	indirect string // a function that differs and can be called indirectly; "" if none
}

// initRE matches functions that run before any benchmark.
var initRE = regexp.MustCompile(`\.init(\.\d+)?$|(^|\.)map\.init\.\d+$|\.init\.(0|[1-9]\d*)\.func\d+$`)

// literalRE matches the end of the name of a function literal, and of functions that go and defer
// statements call.
var literalRE = regexp.MustCompile(`\.(func|gowrap|deferwrap)\d+$|\.\d+$`)

// outerOf returns the function around a function literal. Between their names are those of inlined
// functions.
func (p *Program) outerOf(name string) (string, bool) {
	if !literalRE.MatchString(name) {
		return "", false
	}
	for {
		dot := strings.LastIndexByte(name, '.')
		if dot <= strings.LastIndexByte(name, '/') {
			return "", false
		}
		name = name[:dot]
		if _, ok := p.functions[name]; ok {
			return name, true
		}
	}
}

// testRE matches functions that only go test calls, by name.
var testRE = regexp.MustCompile(`\.(Benchmark|Test|Fuzz|Example)[A-Z0-9_]?\w*$`)

// methodRE matches methods, which interfaces and reflection call.
var methodRE = regexp.MustCompile(`^(.*/)?[^/]*?\.(\(\*[^)]*\)|[A-Za-z_]\w*(\[[^\]]*\])?)\.[A-Za-z_]\w*(-fm)?$`)

// Compare finds the differences in packages of which changed is true, in code made of types, and in
// instances of generic functions, whose package is that of their source.
func Compare(a, b *Program, changed func(path string) bool) *Difference {
	d := &Difference{a: a, b: b, names: map[string]bool{}}
	differs := func(name string) {
		path, ok := packageOf(name)
		if initRE.MatchString(name) || ok && !changed(path) {
			return
		}
		d.names[name] = true
		_, inA := a.outerOf(name)
		_, inB := b.outerOf(name)
		switch {
		case testRE.MatchString(name), inA || inB:
		case a.taken[name] || b.taken[name] || methodRE.MatchString(name):
			if d.indirect == "" || name < d.indirect {
				d.indirect = name
			}
		}
	}
	for name, f := range a.functions {
		if g, ok := b.functions[name]; !ok || !f.equal(g, !strings.Contains(name, ".")) {
			differs(name)
		}
	}
	for name := range b.functions {
		if _, ok := a.functions[name]; !ok {
			differs(name)
		}
	}
	return d
}

// pathPrefix returns a package's path as names of functions have it: dots after the last slash are
// escaped.
func pathPrefix(path string) string {
	slash := strings.LastIndexByte(path, '/') + 1
	return path[:slash] + strings.ReplaceAll(path[slash:], ".", "%2e")
}

// packageOf returns the import path of the package that a function is compiled in. It returns false
// for instances of generic functions and for code made of types.
func packageOf(name string) (string, bool) {
	if strings.ContainsAny(name, "[:") {
		return "", false
	}
	slash := strings.LastIndexByte(name, '/') + 1
	dot := strings.IndexByte(name[slash:], '.')
	if dot < 0 {
		return name, true
	}
	return strings.ReplaceAll(name[:slash+dot], "%2e", "."), true
}

// Same reports whether nothing differs that the function called name, of the package at path, can
// execute. It returns false if that is unknown.
func (d *Difference) Same(path, name string) bool {
	if d.indirect != "" {
		return false
	}
	if _, ok := d.a.functions[pathPrefix(path)+"."+name]; !ok {
		return false
	}
	return !d.Calls(path, name)
}

// Calls reports whether direct calls from the function called name, of the package at path, lead to
// a function that differs.
func (d *Difference) Calls(path, name string) bool {
	start := pathPrefix(path) + "." + name
	return d.a.canReach(start, d.names) || d.b.canReach(start, d.names)
}

// canReach reports whether calls from start lead to one of names.
func (p *Program) canReach(start string, names map[string]bool) bool {
	seen := map[string]bool{}
	open := []string{start}
	for len(open) > 0 {
		name := open[len(open)-1]
		open = open[:len(open)-1]
		if seen[name] {
			continue
		}
		if names[name] {
			return true
		}
		seen[name] = true
		open = append(append(open, p.functions[name].refs...), p.literals[name]...)
	}
	return false
}
