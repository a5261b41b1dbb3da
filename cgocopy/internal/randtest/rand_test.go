package randtest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	// What is tested is built by the go command; these make a test that passed
	// before run again where it has changed.
	_ "github.com/tarebench/tare/cgocopy"
	_ "github.com/tarebench/tare/cgocopy/internal/cli"
	"github.com/tarebench/tare/cgocopy/internal/need"
)

// TestAgainstTheCompiler: 1,000 structs in four programs, 20,000 in forty with
// TARE_SOAK=1.
func TestAgainstTheCompiler(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles a lot")
	}
	programs, each := 4, 250
	if os.Getenv("TARE_SOAK") == "1" {
		programs, each = 40, 500
	}
	if runtime.GOOS == "windows" {
		t.Skip("no pages that cannot be read")
	}
	need.Programs(t, "gcc")
	cgocopy := filepath.Join(t.TempDir(), "cgocopy")
	if out, err := exec.Command("go", "build", "-o", cgocopy, "../../cmd/cgocopy").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	compilers := []string{"gcc"}
	for _, name := range []string{"clang", "clang-14"} {
		if need.Missing(name) == nil {
			compilers = append(compilers, name)
			break
		}
	}
	for seed := range programs {
		// Every fourth batch is clang's, where there is one.
		cc := compilers[seed%4%len(compilers)]
		t.Run(fmt.Sprintf("%s/%d", cc, seed), func(t *testing.T) {
			t.Parallel()
			try(t, cgocopy, cc, uint64(seed), each)
		})
	}
}

// formats are the versions in which types are described to debuggers.
func formats() []string { return []string{"-g", "-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5"} }

func try(t *testing.T, cgocopy, cc string, seed uint64, structs int) {
	dir := t.TempDir()
	p := &program{r: rand.New(rand.NewPCG(seed, 6)), clang: strings.Contains(cc, "clang")}
	for range structs {
		p.one()
	}
	module, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod":  fmt.Sprintf("module rand\n\ngo 1.25.0\n\nrequire github.com/tarebench/tare/cgocopy v0.0.0\n\nreplace github.com/tarebench/tare/cgocopy => %s\n", module),
		"types.h": "#pragma once\n#include <stdint.h>\n#include <string.h>\n" + p.header.String(),
		"fill.c":  fillSource(p),
		"main.go": mainSource(p),
		"want":    strings.Join(p.expect, "\n") + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(name string, args ...string) {
		t.Helper()
		c := exec.Command(name, args...)
		c.Dir = dir
		c.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "CGO_ENABLED=1", "CC="+cc, "CGO_CFLAGS=-g0 -O0 -w -Wno-psabi")
		if text, err := c.CombinedOutput(); err != nil {
			t.Fatalf("seed %d: %s %s: %v: %s", seed, name, args[0], err, clip(string(text)))
		}
	}
	args := []string{"gen", "-type", strings.Join(p.types, ","), "-o", "z.go", "-pkg", "main"}
	for _, tag := range p.tags {
		args = append(args, "-tag", tag)
	}
	run(cgocopy, append(args, "types.h", "--", formats()[seed%uint64(len(formats()))])...)
	run("go", "build", "-o", "plain", ".")
	run("./plain", "want")
	run("go", "build", "-o", "checked", "-gcflags=-N -l -d=checkptr", "-gcflags=github.com/tarebench/tare/cgocopy=-d=checkptr", ".")
	run("./checked", "want")
}

func clip(s string) string {
	if len(s) > 3000 {
		return s[:3000] + "…"
	}
	return s
}
