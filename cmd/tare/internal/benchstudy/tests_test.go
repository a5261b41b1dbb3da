package benchstudy_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy"
)

// noted returns the messages of a note about a benchmark of example.com, or about
// all of them.
func noted(r *tare.Result, check, workload string) (messages []string) {
	for _, f := range r.Findings {
		if f.Check == check && strings.TrimPrefix(f.Workload, "example.com/") == workload {
			messages = append(messages, f.Message)
		}
	}
	return messages
}

// With the tests of head, benchmarks are compared that the change adds, and the row
// says so. A file that does not compile with the code of base stays as it is there.
func TestTestsOfHead(t *testing.T) {
	if testing.Short() {
		t.Skip("builds many packages twice")
	}
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "repo")
	const loop = "\n\tfor i := 0; i < b.N; i++ {\n\t\tsink += %s\n\t}\n}\n"
	body := func(what string) string { return strings.ReplaceAll(loop, "%s", what) }
	repository(t, dir, map[string]string{
		"go.mod": tinyMod, "tiny.go": "package tiny\n\nfunc Sum(n int) int { return n }\n",
		"tiny_test.go":     "package tiny\n\nimport \"testing\"\n\nvar sink int\n\nfunc BenchmarkSum(b *testing.B) {" + body("Sum(1)"),
		"gone_test.go":     "package tiny\n\nimport \"testing\"\n\nfunc TestGone(*testing.T) {}\n",
		"same/same.go":     "package same\n",
		"same/s_test.go":   "package same\n\nimport \"testing\"\n\nvar sink int\n\nfunc BenchmarkSame(b *testing.B) {" + body("1"),
		"testdata/old.txt": "old",
	})
	git(t, dir, "rm", "-q", "gone_test.go")
	write(t, dir, map[string]string{
		"tiny.go": "package tiny\n\nfunc Sum(n int) int { return n }\nfunc New() int { return 1 }\n",
		"added_test.go": "package tiny_test\n\nimport (\n\t\"os\"\n\t\"testing\"\n\n\t\"example.com/tiny\"\n)\n\nvar sink int\n\nfunc BenchmarkAdded(b *testing.B) {" +
			"\n\tif _, err := os.Stat(\"testdata/new.txt\"); err != nil {\n\t\tb.Fatal(err)\n\t}" + body("tiny.Sum(2)"),
		"more_test.go":        "package tiny\n\nimport \"testing\"\n\nfunc BenchmarkMore(b *testing.B) {" + body("New()"),
		"testdata/new.txt":    "new",
		"only/only_test.go":   "package only\n\nimport (\n\t\"testing\"\n\n\t\"example.com/tiny\"\n)\n\nvar sink int\n\nfunc BenchmarkOnly(b *testing.B) {" + body("tiny.Sum(3)"),
		".git/tare_test.go":   "package git\n",
		"other/other.go":      "package other\n\nfunc Other() int { return 1 }\n",
		"other/other_test.go": "package other\n\nimport \"testing\"\n\nvar sink int\n\nfunc BenchmarkOther(b *testing.B) {" + body("Other()"),
	})
	before := git(t, dir, "status", "--porcelain", "--ignored")
	b, r, err := newBench(t, benchstudy.Request{Dir: dir, Base: "one", OneBuild: true, Tests: benchstudy.TestsOfHead})
	if err != nil {
		t.Fatal(err)
	}
	got := ids(b)
	slices.Sort(got)
	if want := []string{"tiny.BenchmarkAdded", "tiny.BenchmarkSum", "tiny/only.BenchmarkOnly", "tiny/same.BenchmarkSame"}; !slices.Equal(got, want) {
		t.Errorf("measured %q, want %q; not measured: %v", got, want, r.NotWeighed)
	}
	for workload, want := range map[string]string{"tiny.BenchmarkAdded": "added_test.go, gone_test.go, testdata/new.txt", "tiny.BenchmarkSum": "added_test.go, gone_test.go, testdata/new.txt", "tiny/only.BenchmarkOnly": "only/only_test.go, testdata/new.txt"} {
		if notes := noted(r, benchstudy.HeadTests().ID, workload); len(notes) != 1 || !strings.HasSuffix(notes[0], ": "+want) {
			t.Errorf("%s: %q, want the tests %s", workload, notes, want)
		}
	}
	kept := noted(r, benchstudy.HeadTests().ID, "")
	if len(kept) != 2 || !strings.Contains(kept[0]+kept[1], "more_test.go, or none: that of head does not compile there: more_test.go:7:11: undefined: New") || !strings.Contains(kept[0]+kept[1], "other/other_test.go") {
		t.Errorf("kept: %q", kept)
	}
	for what, want := range map[string]string{"tiny.BenchmarkMore": "it is in head only", "tiny/other": "it has benchmarks in head only"} {
		if got := left(r, what); got != want {
			t.Errorf("%s is left out because %q, want %q", what, got, want)
		}
	}
	if after := git(t, dir, "status", "--porcelain", "--ignored"); after != before {
		t.Errorf("the worktree was changed:\n%s\nwas\n%s", after, before)
	}
	if _, _, err := newBench(t, benchstudy.Request{Dir: dir, Env: []string{"GOGC=50"}, Tests: benchstudy.TestsOfHead}); err == nil || !strings.Contains(err.Error(), "--tests head needs --base") {
		t.Errorf("without --base: %v", err)
	}
}

// A module with another path in head is the same module, also for tests of head that
// import it, and for a package of it.
func TestRenamedModule(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the benchmarks of three packages four times")
	}
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "repo")
	test := func(name, of, imported string) string {
		return "package " + name + "_test\n\nimport (\n\t\"testing\"\n\n\tp \"" + imported + "\"\n)\n\nvar sink int\n\nfunc Benchmark" + of + "(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t\tsink += p.One(i)\n\t}\n}\n"
	}
	files := func(module string) map[string]string {
		return map[string]string{
			"go.mod": "module " + module + "\n\ngo 1.25\n", "tiny.go": "package tiny\n\nimport \"" + module + "/sub\"\n\nfunc One(n int) int { return sub.One(n) }\n",
			"sub/sub.go": "package sub\n\nfunc One(n int) int { return n & 1 }\n",
			"t_test.go":  test("tiny", "Tiny", module), "sub/s_test.go": test("sub", "Sub", module+"/sub"),
		}
	}
	repository(t, dir, files("example.com/tiny"))
	write(t, dir, files("example.com/tiny/v2"))
	write(t, dir, map[string]string{"added_test.go": strings.Replace(test("tiny", "Added", "example.com/tiny/v2"), "var sink int\n\n", "", 1)})
	for _, tests := range []string{"", benchstudy.TestsOfHead} {
		b, r, err := newBench(t, benchstudy.Request{Dir: dir, Base: "one", Tests: tests})
		if err != nil {
			t.Errorf("tests %q: %v", tests, err)
			continue
		}
		got := ids(b)
		slices.Sort(got)
		want := []string{"tiny/v2.BenchmarkTiny", "tiny/v2/sub.BenchmarkSub"}
		if tests != "" {
			want = slices.Insert(want, 0, "tiny/v2.BenchmarkAdded")
		}
		if !slices.Equal(got, want) {
			t.Errorf("tests %q: measured %q, want %q; not measured: %v", tests, got, want, r.NotWeighed)
		}
		if notes := noted(r, "renamed-module", ""); len(notes) != 1 || !strings.Contains(notes[0], "example.com/tiny of base is example.com/tiny/v2 in head") {
			t.Errorf("notes: %q", notes)
		}
		if notes := noted(r, benchstudy.HeadTests().ID, "tiny/v2/sub.BenchmarkSub"); len(notes) != 0 { // only its imports differ
			t.Errorf("tests of head: %q", notes)
		}
	}
}
