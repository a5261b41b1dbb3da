// Package cgocopytest runs the C side of the tests that cgocopy generates. C fills structs with known
// values, and the generated Go code must find them.
//
// A test cannot import "C", so the C side is a separate program. [Run] compiles it with the compiler and
// the flags of the tested package. The program prints the bytes of the structs, and [Same] compares.
package cgocopytest

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/tarebench/tare/cgocopy/internal/cc"
	"github.com/tarebench/tare/cgocopy/internal/cgoflags"
)

// Program is a C program that fills structs.
type Program struct {
	Headers []string // paths for #include, relative to the package
	Flags   []string // in addition to the flags of #cgo lines and of CGO_CFLAGS
	CXX     bool     // the headers are C++
	Tags    string   // build constraint of the package's files; selects #cgo lines
	Source  string   // C functions that fill structs, with the macros SET, TEXT, ADDR and NIL
	Fills   []Fill
}

// Fill is a C function that fills one struct.
type Fill struct {
	Func string // name of the function
	Type string // C type of the struct to fill
}

// Memory holds the structs that a program has filled.
type Memory struct {
	filled map[string][]byte // bytes of a struct, by the name of its function
}

// Run compiles and runs p, and returns the filled structs. It skips the test if the compiler is missing,
// does not run, or is for another processor.
func Run(t testing.TB, p Program) *Memory {
	t.Helper()
	compiler, err := cc.Compiler(nil, p.CXX)
	if errors.Is(err, cc.ErrNoCompiler) {
		t.Skip(err)
	}
	read := cgoflags.Read
	if p.CXX {
		read = cgoflags.ReadCXX
	}
	flags, err := read(context.Background(), ".", p.Tags, nil)
	if err != nil {
		t.Fatal(err)
	}
	args := append(append(append([]string{}, compiler[1:]...), "-I", "."), append(flags, p.Flags...)...)
	if runtime.GOARCH == "386" {
		args = append(args, "-m32")
	}
	if p.CXX {
		args = append(args, "-fno-access-control") // private members are filled too
	}
	// With -O1 the compiler omits unused functions of the headers. They may call functions that the linker
	// does not find.
	args = append(args, "-O1", "-w", "-fno-lto")
	dir := t.TempDir()
	compile := func(name, text string) (program string, err error) {
		source := filepath.Join(dir, name+".c")
		if p.CXX {
			source += "c" // .cc
		}
		if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
			return "", err
		}
		program = filepath.Join(dir, name+".exe")
		out, err := exec.Command(compiler[0], append(args, "-o", program, source)...).CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("%s: %w\n%s", compiler[0], err, out)
		}
		return program, nil
	}
	program, err := compile("fill", p.formatSource())
	if err != nil {
		// If even an empty program fails, libraries for the target are missing.
		if _, emptyErr := compile("nothing", before+"int main(void) { return 0; }\n"); emptyErr != nil {
			t.Skipf("no C program for %s can be built on this machine: %v", runtime.GOARCH, emptyErr)
		}
		t.Fatal(err)
	}
	out, err := exec.Command(program).Output()
	if err != nil {
		t.Skipf("what %s compiles does not run on this machine: %v", compiler[0], err)
	}
	m, arch, err := parseOutput(out)
	if err != nil {
		t.Fatalf("output of the C program: %v", err)
	}
	if arch != runtime.GOARCH {
		t.Skipf("%s compiles for %s, and this test is one of %s: name another compiler in CC", compiler[0], arch, runtime.GOARCH)
	}
	return m
}

// At returns a copy of a filled struct, aligned to 64 bytes. fill is the name of its function. At fails the
// test if the struct does not have size bytes.
func (m *Memory) At(t testing.TB, fill string, size int) unsafe.Pointer {
	t.Helper()
	b, ok := m.filled[fill]
	if !ok || len(b) != size {
		t.Fatalf("in C it has %d bytes, not %d: run go generate", len(b), size)
	}
	const align = 64
	room := make([]byte, size+align)
	offset := align - int(uintptr(unsafe.Pointer(&room[0]))%align)
	copy(room[offset:], b)
	return unsafe.Pointer(&room[offset])
}

// parseOutput parses the output of a program. The first line is its architecture. Each further line has a
// struct: the fill function, the size, and the bytes in hexadecimal.
func parseOutput(out []byte) (*Memory, string, error) {
	m := &Memory{filled: map[string][]byte{}}
	arch, rest, _ := bytes.Cut(out, []byte("\n"))
	for line := range strings.Lines(string(rest)) {
		words := strings.Fields(line)
		if len(words) != 3 {
			return nil, "", fmt.Errorf("%q", line)
		}
		size, err := strconv.Atoi(words[1])
		b, hexErr := hex.DecodeString(words[2])
		if err = errors.Join(err, hexErr); err != nil || len(b) != size {
			return nil, "", fmt.Errorf("%q: %d bytes: %w", words[0], len(b), err)
		}
		m.filled[words[0]] = b
	}
	return m, strings.TrimSpace(string(arch)), nil
}
