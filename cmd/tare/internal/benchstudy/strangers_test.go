package benchstudy_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy"
	"github.com/tarebench/tare/kinds/gobench"
)

// strangers is a repository of packages that have a process to themselves, look at
// flags, print what looks like results, or end before their benchmarks.
func strangers(t *testing.T) string {
	t.Helper()
	files := map[string]string{}
	root := filepath.Join("testdata", "strangers")
	for _, pattern := range []string{"*", "*/*"} {
		paths, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if info, err := os.Stat(path); err != nil || info.IsDir() {
				continue
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			name, _ := filepath.Rel(root, path)
			files[name] = string(text)
		}
	}
	dir := filepath.Join(t.TempDir(), "repo")
	repository(t, dir, files)
	return dir
}

// What one package does to its process is a note, or the reason to leave that package
// out, and the others are measured.
func TestStrangers(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the benchmarks of eleven packages twice")
	}
	t.Parallel()
	dir := strangers(t)
	write(t, dir, map[string]string{"oneside/address.go": "package oneside\n\nconst address = \"127.0.0.1:0\"\n"})
	b, r, err := newBench(t, benchstudy.Request{Dir: dir, Base: "one", OneBuild: true})
	if err != nil {
		t.Fatal(err)
	}
	const module = "example.org/cases/"
	var got []string
	for _, w := range b.Study.Workloads {
		got = append(got, strings.TrimPrefix(w.ID, module))
	}
	want := []string{
		"fixedport.BenchmarkPort", "healthy.BenchmarkHealthy", "inside.BenchmarkServer", "lock.BenchmarkStore", "logline.BenchmarkRows",
		"oneside.BenchmarkPort", "state.BenchmarkRows", "twice.BenchmarkBackend", "underbench.BenchmarkData", "underbench.BenchmarkPer",
	}
	if !slices.Equal(got, want) {
		t.Errorf("measured %q, want %q; not measured: %v", got, want, r.NotWeighed)
	}
	for _, tt := range []struct{ check, about, text string }{
		{"one-process", "fixedport.BenchmarkPort", "127.0.0.1:17943"},
		{"one-process", "inside.BenchmarkServer", "127.0.0.1:17944"},
		{"one-process", "lock.BenchmarkStore", "takes too long"},
		{"one-process", "oneside.BenchmarkPort", "127.0.0.1:17945"},
		{"unlike-go-test", "state.BenchmarkRows", "ns/op, and tare measures"},
		{"repeated-run", "", "example.org/cases/twice: go test runs its benchmarks 2 times"},
	} {
		has := slices.ContainsFunc(r.Findings, func(f tare.Finding) bool {
			// On a busy machine a process next to others may be too slow before it fails.
			hasText := strings.Contains(f.Message, tt.text) || tt.check == "one-process" && strings.Contains(f.Message, "takes too long")
			return f.Check == tt.check && strings.TrimPrefix(f.Workload, module) == tt.about && hasText
		})
		if !has {
			t.Errorf("no note %s of %s with %q among %v", tt.check, tt.about, tt.text, r.Findings)
		}
	}
	for _, f := range r.Findings {
		lone := slices.Contains([]string{"fixedport", "inside", "lock", "oneside"}, strings.Split(strings.TrimPrefix(f.Workload, module), ".")[0])
		if f.Check == "one-process" && !lone || f.Check == "unlike-go-test" && !strings.Contains(f.Workload, "/state.") || f.Check == "repeated-run" && !strings.Contains(f.Message, "/twice:") {
			t.Errorf("a note too many: %+v", f)
		}
	}
	for _, w := range b.Study.Workloads {
		if strings.HasSuffix(w.ID, ".BenchmarkPort") && w.Set[gobench.SetRun] == "" {
			t.Errorf("%s is not measured in whole runs: %+v", w.ID, w)
		}
	}
	for what, want := range map[string]string{
		"exits.BenchmarkQuery":  "both sides: its test binary ends before any benchmark runs, in TestMain or an init: exit status 0",
		"broken.BenchmarkQuery": "both sides: its test binary ends before any benchmark runs, in TestMain or an init: exit status 1: no database",
	} {
		if !slices.ContainsFunc(r.NotWeighed, func(n tare.NotWeighed) bool { return n.What == module+what && n.Why == want }) {
			t.Errorf("%s is not left out because %q: %v", what, want, r.NotWeighed)
		}
	}
}
