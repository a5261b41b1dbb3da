package randtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tarebench/tare/cgocopy/internal/cli"
)

// batch is how many structs go into one program.
const batch = 100

// TestAgainstTheCompiler: 2,000 structs, 20,000 with TARE_SOAK=1.
func TestAgainstTheCompiler(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles a lot")
	}
	n := 2000
	if os.Getenv("TARE_SOAK") == "1" {
		n = 20000
	}
	compilers := []string{"gcc"}
	if _, err := exec.LookPath("clang"); err == nil {
		compilers = append(compilers, "clang")
	}
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("no gcc")
	}
	for _, cc := range compilers {
		for seed := range n / batch {
			t.Run(fmt.Sprintf("%s/%d", cc, seed), func(t *testing.T) {
				t.Parallel()
				try(t, cc, uint64(seed))
			})
		}
	}
}

func try(t *testing.T, cc string, seed uint64) {
	dir := t.TempDir()
	p := &program{r: rand.New(rand.NewPCG(seed, 6))}
	for range batch {
		p.one()
	}
	module, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", fmt.Sprintf("module rand\n\ngo 1.25.0\n\nrequire github.com/tarebench/tare/cgocopy v0.0.0\n\nreplace github.com/tarebench/tare/cgocopy => %s\n", module))
	write("types.h", "#pragma once\n#include <stdint.h>\n#include <string.h>\n"+p.header.String())
	write("fill.c", "#include \"types.h\"\n"+p.fill.String())
	write("main.go", fmt.Sprintf(mainSource, protos(p), p.expect.String()))
	args := []string{"gen", "-type", strings.Join(p.types, ","), "-o", filepath.Join(dir, "z.go"), "-pkg", "main"}
	for _, tag := range p.tags {
		args = append(args, "-tag", tag)
	}
	args = append(args, filepath.Join(dir, "types.h"))
	var out, said strings.Builder
	if code := cli.Main(context.Background(), args, &out, &said); code != 0 {
		t.Fatalf("seed %d: code %d: %s", seed, code, clip(said.String()))
	}
	run := exec.Command("go", "run", ".")
	run.Dir = dir
	run.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "CGO_ENABLED=1", "CC="+cc, "CGO_CFLAGS=-g -O1 -Wno-psabi")
	if text, err := run.CombinedOutput(); err != nil {
		t.Errorf("seed %d: %v: %s", seed, err, clip(string(text)))
	}
}

func protos(p *program) string {
	var b strings.Builder
	for _, line := range strings.Split(p.fill.String(), "\n") {
		if decl, ok := strings.CutSuffix(line, " {"); ok && strings.HasPrefix(decl, "void fill_") {
			b.WriteString(decl + ";\n")
		}
	}
	return b.String()
}

func clip(s string) string {
	if len(s) > 3000 {
		return s[:3000] + "…"
	}
	return s
}

const mainSource = `package main

/*
#include <stdlib.h>
#include "types.h"
%s
*/
import "C"

import (
	"fmt"
	"os"
	"reflect"
	"unsafe"
)

type filled[T any] interface {
	*T
	FromC(p unsafe.Pointer) error
}

type tester struct{ failed int }

func look[T any, P filled[T]](t *tester, name string, _ int, fill func(unsafe.Pointer), want T) {
	p := C.aligned_alloc(64, 1<<16)
	defer C.free(p)
	fill(p)
	for range 2 { // the second time into what is there
		var got T
		if err := P(&got).FromC(p); err != nil {
			fmt.Printf("%%s: %%v\n", name, err)
			t.failed++
			return
		}
		if err := P(&got).FromC(p); err != nil || !reflect.DeepEqual(got, want) {
			fmt.Printf("%%s: %%v\n got %%+v\nwant %%+v\n", name, err, got, want)
			t.failed++
			return
		}
	}
}

func main() {
	t := &tester{}
%s
	if t.failed > 0 {
		fmt.Println(t.failed, "differ")
		os.Exit(1)
	}
}
`
