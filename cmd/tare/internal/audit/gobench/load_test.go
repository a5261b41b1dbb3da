package gobench

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const sleeper = `package p

import (
	"testing"
	"time"
)

func BenchmarkSleep1(b *testing.B) { for b.Loop() { work() } }

func BenchmarkPause(b *testing.B) {
	for b.Loop() {
		time.Sleep(1)
	}
}
`

// writeTree writes files into a new directory.
func writeTree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// What does not compile, is not in a module, needs other modules or imports itself
// is read as far as it has types, and one line says what is missing.
func TestReadsWhatItCan(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command for each of many modules")
	}
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOFLAGS", "-mod=mod")
	t.Setenv("GOWORK", "off")
	const mod = "module example.com/m\n\ngo 1.25\n"
	deep := strings.Repeat("(", 200_000) + strings.Repeat(")", 200_000)
	for name, c := range map[string]struct {
		files    map[string]string
		note     string // part of a note; "" if there is none
		findings int
	}{
		"a module":            {map[string]string{"go.mod": mod, "p/p_test.go": sleeper, "p/p.go": "package p\n\nfunc work() {}\n"}, "", 1},
		"no module":           {map[string]string{"p_test.go": sleeper, "p.go": "package p\n\nfunc work() {}\n"}, "", 1},
		"an undefined name":   {map[string]string{"go.mod": mod, "p/p_test.go": sleeper}, "undefined: work", 1},
		"a missing module":    {map[string]string{"go.mod": mod, "p_test.go": sleeper, "p.go": "package p\n\nimport \"example.com/none\"\n\nfunc work() { none.Do() }\n"}, "example.com/none", 1},
		"a damaged go.mod":    {map[string]string{"go.mod": "modul x\n", "p_test.go": sleeper, "p.go": "package p\n\nfunc work() {}\n"}, "go.mod", 1},
		"a syntax error":      {map[string]string{"go.mod": mod, "p_test.go": sleeper + "\nfunc {\n", "p.go": "package p\n\nfunc work() {}\n"}, "p_test.go:", 1},
		"an import cycle":     {map[string]string{"go.mod": mod, "p/p_test.go": sleeper, "p/p.go": "package p\n\nimport \"example.com/m/q\"\n\nfunc work() { q.Do() }\n", "q/q.go": "package q\n\nimport _ \"example.com/m/p\"\n\nfunc Do() {}\n"}, "cycle", 1},
		"deep parentheses":    {map[string]string{"go.mod": mod, "p_test.go": sleeper, "p.go": "package p\n\nfunc work() { _ = " + deep + " }\n"}, "p.go:", 1},
		"no benchmarks":       {map[string]string{"go.mod": mod, "p.go": "package p\n"}, "", 0},
		"excluded everywhere": {map[string]string{"go.mod": mod, "p_test.go": "//go:build neverset\n\n" + sleeper}, "build constraints exclude", 0},
		"two packages":        {map[string]string{"go.mod": mod, "p_test.go": sleeper, "q.go": "package q\n\nfunc work() {}\n"}, "found packages", 1},
	} {
		rep, err := Read(t.Context(), []string{writeTree(t, c.files)})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		said := strings.Join(rep.Notes, "\n")
		if len(rep.Findings) != c.findings || (c.note == "") != (said == "") || !strings.Contains(said, c.note) {
			t.Errorf("%s: %d findings, notes %q; want %d and %q", name, len(rep.Findings), rep.Notes, c.findings, c.note)
		}
		if i := slices.IndexFunc(rep.Notes, func(n string) bool { return strings.Contains(n, "\n") || len(n) > 600 }); i >= 0 {
			t.Errorf("%s: a note is not a line: %q", name, rep.Notes[i])
		}
	}
}

// A file is read with its package, and only what is in it is reported.
func TestReadsOneFile(t *testing.T) {
	t.Setenv("GOWORK", "off")
	dir := writeTree(t, map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.25\n", "p_test.go": sleeper, "p.go": "package p\n\nfunc work() {}\n",
		"q_test.go": strings.NewReplacer("Sleep1", "Two", "Pause", "Three").Replace(sleeper),
	})
	rep, err := Read(t.Context(), []string{filepath.Join(dir, "q_test.go")})
	if err != nil || len(rep.Notes) > 0 {
		t.Fatalf("%v, notes %q", err, rep.Notes)
	}
	if len(rep.Findings) != 1 || filepath.Base(rep.Findings[0].File) != "q_test.go" || rep.Files != 1 || rep.Benchmarks != 2 {
		t.Errorf("%d benchmarks in %d files, findings %v", rep.Benchmarks, rep.Files, rep.Findings)
	}
	if got := rep.Findings[0].Command; !strings.Contains(got, "'^BenchmarkThree$'") {
		t.Errorf("the command is %q", got)
	}
}

// Time grows with the size of what is read, not with its square.
func TestReadsLargeFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("type-checks 20,000 functions")
	}
	t.Setenv("GOWORK", "off")
	var b strings.Builder
	b.WriteString("package p\n\nimport (\n\t\"testing\"\n\t\"time\"\n)\n")
	for i := range 20_000 {
		fmt.Fprintf(&b, "func BenchmarkX%d(b *testing.B) { for b.Loop() { time.Sleep(%d) } }\n", i, i)
	}
	rep, err := Read(t.Context(), []string{writeTree(t, map[string]string{"go.mod": "module example.com/m\n\ngo 1.25\n", "p_test.go": b.String()})})
	if err != nil || len(rep.Findings) != 20_000 {
		t.Errorf("%d findings, %v", len(rep.Findings), err)
	}
}

func TestVetCalls(t *testing.T) {
	calls := map[string]bool{
		"-V=full": true, "-flags": true, "-sleep_in_loop /tmp/x/vet.cfg": true,
		"audit .": false, "": false, "load --config vet.cfg.yaml": false,
	}
	for _, call := range slices.Sorted(maps.Keys(calls)) {
		if got := IsVetCall(strings.Fields(call)); got != calls[call] {
			t.Errorf("%q: %v", call, got)
		}
	}
}
