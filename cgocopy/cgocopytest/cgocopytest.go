// Package cgocopytest runs the C side of the tests that cgocopy generates: C
// fills structs with known values, and generated Go has to find them.
//
// A test cannot import "C", so the C of a test is a program of its own. It is
// compiled with the compiler and the flags of the package that is tested, and
// prints what it filled.
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

// Program fills structs.
type Program struct {
	Headers []string // as the package includes them
	Flags   []string // of the compiler, in addition to those of the package and of CGO_CFLAGS
	CXX     bool     // the headers are C++
	Tags    string   // build constraint of the package's files, by which #cgo lines are chosen
	Source  string   // fill functions, made of SET, TEXT, ADDR and NIL
	Fills   []Fill
}

// Fill is a function of a program that fills one struct.
type Fill struct {
	Func string // its name
	Type string // what its parameter points to, in C
}

// Memory holds the structs that a program has filled.
type Memory struct {
	filled map[string][]byte
}

// Run compiles and runs p. If there is no compiler, or it compiles for another machine, it skips
// the test with the reason.
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
		args = append(args, "-fno-access-control")
	}
	// -O1: functions of headers without calls are omitted.
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
		// The request may be correct, and libraries for the target missing.
		if _, none := compile("nothing", before+"int main(void) { return 0; }\n"); none != nil {
			t.Skipf("no C program for %s can be made here: %v", runtime.GOARCH, none)
		}
		t.Fatal(err)
	}
	out, err := exec.Command(program).Output()
	if err != nil {
		t.Skipf("what %s compiles does not run here: %v", compiler[0], err)
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

// At returns a copy, aligned to 64 bytes, of what a fill function filled.
func (m *Memory) At(t testing.TB, fill string, size int) unsafe.Pointer {
	t.Helper()
	b, ok := m.filled[fill]
	if !ok || len(b) != size {
		t.Fatalf("in C it has %d bytes, not %d: run go generate", len(b), size)
	}
	const align = 64
	room := make([]byte, size+align)
	at := align - int(uintptr(unsafe.Pointer(&room[0]))%align)
	copy(room[at:], b)
	return unsafe.Pointer(&room[at])
}

// parseOutput reads the output of a program: its architecture, and a line for each struct with the
// fill function, its bytes as sizeof counts them and as hex.
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
