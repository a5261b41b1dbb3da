// Package samecode compares the machine code of two test binaries, function by function, without
// addresses. For example, an edit changes only p.Write, and BenchmarkRead never calls it. Then
// BenchmarkRead has the same code in both builds. A difference in its time comes from data, from
// addresses, or from chance.
//
// The package assumes too many functions that a benchmark can execute rather than too few. It
// starts from the benchmark and from every function that can be called indirectly: methods, and
// functions whose address is in data. From these it follows direct calls and function literals. It
// excludes tests, and functions that initialise packages, since their results are data.
package samecode

import (
	"bytes"
	"debug/gosym"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// ErrUnknown reports a binary for an unknown system or processor.
var ErrUnknown = errors.New("its machine code cannot be read on this system")

// Program is the code of a binary.
type Program struct {
	functions    map[string]function // by name
	addressTaken map[string]bool     // functions whose address is in data
	tests        map[string]bool     // also benchmarks, fuzz tests and examples
	literals     map[string][]string // by the name of the enclosing function
}

// function is the code of a function with addresses masked.
type function struct {
	code      []byte
	refs      []string // functions that it refers to
	undecoded bool     // a part of the code is not masked
}

// isSameFunction reports whether the functions called name of two binaries have the same code. A
// function of assembly, such as memeqbody of the runtime, may contain addresses that cannot be
// masked. Then only its length is compared.
func isSameFunction(name string, f, g function) bool {
	isLocalAssembly := !strings.Contains(name, ".") // the name has no package
	if isLocalAssembly && f.undecoded && g.undecoded {
		return len(f.code) == len(g.code)
	}
	return bytes.Equal(f.code, g.code)
}

// Open reads the functions of a binary. The error wraps [ErrUnknown] if its system is unknown.
func Open(path string) (*Program, error) {
	img, err := readImage(path)
	if err != nil {
		return nil, err
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(img.lines, img.textAddr))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	p := &Program{functions: make(map[string]function, len(table.Funcs)), addressTaken: map[string]bool{}, tests: map[string]bool{}, literals: map[string][]string{}}
	locate := img.newLocator(table.Funcs)
	for _, f := range table.Funcs {
		low, high := f.Entry-img.textAddr, f.End-img.textAddr
		if f.Entry < img.textAddr || high > uint64(len(img.text)) || low > high {
			continue // not in the text section
		}
		p.addFunction(f.Name, img.mask(f.Entry, img.text[low:high], locate))
		if testRE.MatchString(f.Name) {
			file, _, _ := table.PCToLine(f.Entry)
			p.tests[f.Name] = strings.HasSuffix(file, "_test.go")
		}
	}
	for name := range p.functions {
		if outer, ok := p.outerOf(name); ok {
			p.literals[outer] = append(p.literals[outer], name)
		}
	}
	for _, section := range img.data {
		for ; len(section) >= 8; section = section[8:] { // every aligned word may be an address
			if name, offset, ok := locate(binary.LittleEndian.Uint64(section)); ok && offset == 0 {
				p.addressTaken[name] = true
			}
		}
	}
	return p, nil
}

// addFunction adds the masked code of a function. Functions of the same name count as one.
func (p *Program) addFunction(name string, f function) {
	if earlier, ok := p.functions[name]; ok {
		f.code = slices.Concat(earlier.code, f.code)
		f.refs = append(f.refs, earlier.refs...)
	}
	p.functions[name] = f
}

// Difference contains the functions that differ between two programs.
type Difference struct {
	a, b        *Program
	differing   map[string]bool // names of functions
	anyIndirect bool            // an indirect call can lead to one of them
}

// initRE matches functions that initialise a package: example.com/p.init, p.init.0 and
// p.map.init.0. It does not match the method p.(*T).init.
var initRE = lazyregexp.New(`^([^()]*/)?[^./()]+\.init(\.\d+)?$|(^|\.)map\.init\.\d+$`)

// literalRE matches the end of the name of a function literal: p.F.func1, p.F.func1.2. The compiler
// makes p.F.gowrap1 and p.F.deferwrap1 for go and defer statements.
var literalRE = lazyregexp.New(`\.(func|gowrap|deferwrap)\d+$|\.\d+$`)

// outerOf returns p.F for the function literal p.F.func1. If p.G is inlined into p.F, a literal of
// p.G is called p.F.G.func1. There is no function p.F.G then, so outerOf removes one more name.
func (p *Program) outerOf(name string) (outer string, ok bool) {
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

// testRE matches names of tests, such as example.com/p.TestOpen. As in go test, no lower-case
// letter follows the prefix.
var testRE = lazyregexp.New(`^([^()]*/)?[^./()]+\.(Benchmark|Test|Fuzz|Example)(\P{Ll}\w*)?$`)

// methodRE matches methods: example.com/p.(*T).Read, p.T.Read, the generic p.T[…].Read, and the
// method value p.T.Read-fm.
var methodRE = lazyregexp.New(`^(.*/)?[^/]*?\.(\(\*[^)]*\)|[A-Za-z_]\w*(\[[^\]]*\])?)\.[A-Za-z_]\w*(-fm)?$`)

// indirectCalls returns the functions that a benchmark can call indirectly: methods, and functions
// whose address is in data. A function literal is one of them only if code that runs before
// benchmarks can have stored it.
func (p *Program) indirectCalls() (names []string) {
	start := []string{"main.main"} // main.main calls TestMain
	for name := range p.functions {
		if initRE.MatchString(name) {
			start = append(start, name)
		}
	}
	runsBefore := p.findReachable(start)
	for name := range p.functions {
		_, isLiteral := p.outerOf(name)
		switch {
		case initRE.MatchString(name), p.tests[name], name == "runtime.main":
			continue
		case isLiteral && !runsBefore[name]:
			continue // only the function around it can call it or store it
		case p.addressTaken[name] || methodRE.MatchString(name):
			names = append(names, name)
		}
	}
	return names
}

// Compare compares the functions of the packages for which changed returns true. It also compares
// functions that the compiler made for types, and instances of generic functions. These may differ
// although the package of their source is the same.
func Compare(a, b *Program, changed func(path string) bool) *Difference {
	difference := &Difference{a: a, b: b, differing: map[string]bool{}}
	addDifferent := func(name string) {
		path, hasPackage := packageOf(name)
		isCompared := !hasPackage || changed(path)
		if isCompared && !initRE.MatchString(name) {
			difference.differing[name] = true
		}
	}
	for name, f := range a.functions {
		if g, ok := b.functions[name]; !ok || !isSameFunction(name, f, g) {
			addDifferent(name)
		}
	}
	for name := range b.functions {
		if _, ok := a.functions[name]; !ok {
			addDifferent(name)
		}
	}
	if len(difference.differing) > 0 {
		_, inA := a.distance(a.indirectCalls(), difference.differing)
		_, inB := b.distance(b.indirectCalls(), difference.differing)
		difference.anyIndirect = inA || inB
	}
	return difference
}

// pathPrefix returns the path of a package as names of functions have it, with escaped dots after
// the last slash.
func pathPrefix(path string) string {
	slash := strings.LastIndexByte(path, '/') + 1
	return path[:slash] + strings.ReplaceAll(path[slash:], ".", "%2e")
}

// packageOf returns the import path of a function's package. It returns false for instances of
// generic functions and functions made for types, because every package may contain them.
func packageOf(name string) (path string, ok bool) {
	if strings.ContainsAny(name, "[:") { // f[…], type:.eq.…
		return "", false
	}
	slash := strings.LastIndexByte(name, '/') + 1
	dot := strings.IndexByte(name[slash:], '.')
	if dot < 0 {
		return name, true
	}
	return strings.ReplaceAll(name[:slash+dot], "%2e", "."), true
}

// IsSame reports whether all code that a function can execute is equal in both programs. The
// function is called name, in the package at path. It returns false if the function is unknown.
func (d *Difference) IsSame(path, name string) bool {
	_, isKnown := d.a.functions[pathPrefix(path)+"."+name]
	_, callsDifferent := d.Distance(path, name)
	return isKnown && !d.anyIndirect && !callsDifferent
}

// Distance returns the least number of direct calls from a function to one that differs. It is 0 if
// the function itself differs. ok is false if no calls lead to one.
func (d *Difference) Distance(path, name string) (calls int, ok bool) {
	start := []string{pathPrefix(path) + "." + name}
	inA, okA := d.a.distance(start, d.differing)
	inB, okB := d.b.distance(start, d.differing)
	switch {
	case !okA:
		return inB, okB
	case !okB:
		return inA, true
	}
	return min(inA, inB), true
}

// distance returns the least number of direct calls and function literals from start to one of names.
func (p *Program) distance(start []string, names map[string]bool) (calls int, ok bool) {
	seen := map[string]bool{}
	for frontier := start; len(frontier) > 0; calls++ {
		var next []string
		for _, name := range frontier {
			if names[name] {
				return calls, true
			}
			for _, callee := range slices.Concat(p.functions[name].refs, p.literals[name]) {
				if !seen[callee] {
					seen[callee] = true
					next = append(next, callee)
				}
			}
		}
		frontier = next
	}
	return 0, false
}

func (p *Program) findReachable(start []string) map[string]bool {
	seen := map[string]bool{}
	for queue := slices.Clone(start); len(queue) > 0; {
		name := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if seen[name] {
			continue
		}
		seen[name] = true
		queue = append(append(queue, p.functions[name].refs...), p.literals[name]...)
	}
	return seen
}
