package randtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	// The go command builds the tested package. This import makes it a dependency of the test, so that a
	// cached result is not used after it has changed.
	_ "github.com/tarebench/tare/cgocopy"
	"github.com/tarebench/tare/cgocopy/internal/cli"
	"github.com/tarebench/tare/cgocopy/internal/testenv"
)

// maxBatches is the maximum number of batches in a program. It limits the memory of the compiler.
const maxBatches = 4

// TestAgainstTheCompiler compares 1,000 structs in four batches, 80 in one
// batch with -short, and 20,000 in forty with TARE_SOAK=1. A batch has a seed,
// a compiler and a package; batches of one compiler share a program.
func TestAgainstTheCompiler(t *testing.T) {
	seeds, structs := 4, 250 // structs per seed
	switch {
	case testing.Short():
		seeds, structs = 1, 80
	case os.Getenv("TARE_SOAK") == "1":
		seeds, structs = 40, 500
	}
	if runtime.GOOS == "windows" {
		t.Skip("no pages that cannot be read")
	}
	testenv.Programs(t, "gcc")
	compilers := []string{"gcc"}
	for _, name := range []string{"clang", "clang-14"} {
		if testenv.Missing(name) == nil {
			compilers = append(compilers, name)
			break
		}
	}
	seedsOf := map[string][]uint64{} // by compiler
	for seed := range seeds {
		// Clang compiles every second batch, if it is installed.
		cc := compilers[seed%4%len(compilers)]
		seedsOf[cc] = append(seedsOf[cc], uint64(seed))
	}
	for _, cc := range compilers {
		for part := range slices.Chunk(seedsOf[cc], maxBatches) {
			t.Run(fmt.Sprintf("%s/%d-%d", cc, part[0], part[len(part)-1]), func(t *testing.T) { compare(t, cc, part, structs) })
		}
	}
}

// formats returns compiler flags for the versions of DWARF.
func formats() []string { return []string{"-g", "-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5"} }

// compare builds a program with a batch per seed, once optimized and once with
// checked pointers, and runs each batch in both builds. Only the first build
// has the files with static assertions: they do not depend on flags of Go.
func compare(t *testing.T, cc string, seeds []uint64, structs int) {
	t.Logf("seeds %d, %d structs each", seeds, structs)
	dir := t.TempDir()
	module, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for name, value := range map[string]string{"GOWORK": "off", "GOFLAGS": "-mod=mod -trimpath -ldflags=-w", "CGO_ENABLED": "1", "CC": cc} {
		t.Setenv(name, value)
	}
	write(t, "go.mod", fmt.Sprintf("module rand\n\ngo 1.25.0\n\nrequire github.com/tarebench/tare/cgocopy v0.0.0\n\nreplace github.com/tarebench/tare/cgocopy => %s\n", module))
	write(t, "main.go", mainSource(len(seeds)))
	write(t, "fill/fill.go", fillGo(len(seeds)))
	for n, seed := range seeds {
		p := &program{r: rand.New(rand.NewPCG(seed, 6)), clang: strings.Contains(cc, "clang")}
		for range structs {
			p.addStruct()
		}
		header := "#pragma once\n#include <stdint.h>\n#include <string.h>\n" + p.header.String()
		batch := fmt.Sprintf("batch%d", n)
		write(t, batch+"/types.h", header)
		write(t, batch+"/all.go", targets(p, n))
		write(t, batch+"/want", strings.Join(p.expect, "\n")+"\n")
		write(t, fmt.Sprintf("fill/types%d.h", n), header)
		write(t, fmt.Sprintf("fill/fill%d.c", n), fillSource(p, n))
		args := []string{"gen", "-type", strings.Join(p.types, ","), "-o", batch + "/z.go"}
		for _, tag := range p.tags {
			args = append(args, "-tag", tag)
		}
		var messages strings.Builder
		if code := cli.Main(context.Background(), append(args, batch+"/types.h", "--", formats()[seed%uint64(len(formats()))]), &messages, &messages); code != 0 {
			t.Fatalf("seed %d: cgocopy gen: code %d: %s", seed, code, clip(messages.String()))
		}
	}
	for _, build := range []struct {
		name  string
		flags []string
	}{
		{"plain", nil},
		{"checked", []string{"-gcflags=rand/...=-N -l -d=checkptr", "-gcflags=rand/fill=", "-gcflags=github.com/tarebench/tare/cgocopy=-d=checkptr"}},
	} {
		if text, err := exec.Command("go", append(append([]string{"build", "-o", build.name}, build.flags...), ".")...).CombinedOutput(); err != nil {
			t.Fatalf("seeds %d: go build, %s: %v: %s", seeds, build.name, err, clip(string(text)))
		}
		for n, seed := range seeds {
			if text, err := exec.Command("./"+build.name, fmt.Sprint(n), fmt.Sprintf("batch%d/want", n)).CombinedOutput(); err != nil {
				t.Errorf("seed %d, %s: %v: %s", seed, build.name, err, clip(string(text)))
			}
			if build.flags == nil {
				if err := os.Remove(fmt.Sprintf("batch%d/z_assert.go", n)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// clip shortens a text for an error message.
func clip(s string) string {
	if len(s) > 3000 {
		return s[:3000] + "…"
	}
	return s
}
