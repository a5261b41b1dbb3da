package e2e

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	tinyMod  = "module example.com/tiny\n\ngo 1.24\n"
	tinyCode = "package tiny\n\nfunc Sum(n int) int { return n + 1 }\n"
	tinyTest = "package tiny\n\nimport \"testing\"\n\nvar sink int\n\nfunc BenchmarkSum(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t\tsink = Sum(i)\n\t}\n}\n"
	measured = "\nBenchmarkSum "
)

// tiny is a module with one benchmark, and more files or others instead.
func tiny(more map[string]string) map[string]string {
	all := map[string]string{"go.mod": tinyMod, "tiny.go": tinyCode, "tiny_test.go": tinyTest}
	for name, text := range more {
		all[name] = text
	}
	return all
}

// uses is a benchmark of what package path returns.
func uses(pkg, path string) string {
	return "package " + pkg + "\n\nimport (\n\t\"testing\"\n\n\tother \"" + path + "\"\n)\n\nvar sink int\n\nfunc BenchmarkSum(b *testing.B) {\n\tfor i := 0; i < b.N; i++ {\n\t\tsink = other.One()\n\t}\n\tb.ReportMetric(float64(other.One()), \"ones/op\")\n}\n"
}

func one(value string) string { return "package other\n\nfunc One() int { return " + value + " }\n" }

const otherMod = "module example.com/other\n\ngo 1.24\n"

const noisy = `package tiny

import (
	"fmt"
	"os"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	fmt.Println("TestMain prints BenchmarkMain \t 1 \t 5 ns/op")
	fmt.Fprintln(os.Stderr, "and so on")
	go func() {
		for {
			fmt.Print("tick 1\t2 ns/op ")
			println("tock")
			time.Sleep(time.Millisecond)
		}
	}()
	os.Exit(m.Run())
}

func BenchmarkSum(b *testing.B) {
	fmt.Print("a line without an end")
	fmt.Fprintln(os.Stderr, "PASS")
	b.Log("logged")
	for i := 0; i < b.N; i++ {
		Sum(i)
	}
	fmt.Println("\n--- BENCH: BenchmarkSum\nok")
}
`

const unruly = `package tiny

import (
	"os"
	"sync"
	"testing"
	"time"
)

func BenchmarkSum(b *testing.B) {
	for i := 0; i < b.N; i++ {
		Sum(i)
	}
}

func BenchmarkPanics(b *testing.B)  { panic("boom\nand more") }
func BenchmarkFatal(b *testing.B)   { b.Fatal("no luck") }
func BenchmarkErrors(b *testing.B)  { b.Error("wrong") }
func BenchmarkSkips(b *testing.B)   { b.Skip("not today") }
func BenchmarkExits(b *testing.B)   { os.Exit(3) }
func BenchmarkExits0(b *testing.B)  { os.Exit(0) }
func BenchmarkEmpty(b *testing.B)   {}
func BenchmarkNothing(b *testing.B) { time.Sleep(5 * time.Millisecond) }
func BenchmarkDeadlock(b *testing.B) {
	var wg sync.WaitGroup
	wg.Add(1)
	go func() { panic("in a goroutine") }()
	wg.Wait()
}

func BenchmarkLater(b *testing.B) {
	if b.N > 1 {
		b.Fatal("too many")
	}
	for i := 0; i < b.N; i++ {
		time.Sleep(10 * time.Microsecond)
	}
}
`

// hostiles are the repositories that tare bench has to cope with.
func hostiles() []hostile {
	const newer = "module example.com/tiny\n\ngo 1.99\n"
	vendored := map[string]string{
		"go.mod": "module example.com/tiny\n\ngo 1.24\n\nrequire example.com/other v1.0.0\n", "tiny_test.go": uses("tiny", "example.com/other"),
		"vendor/modules.txt": "# example.com/other v1.0.0\n## explicit; go 1.24\nexample.com/other\n", "vendor/example.com/other/other.go": one("1"),
	}
	work := map[string]string{
		"go.work":  "go 1.24\n\nuse (\n\t./a\n\t./other\n)\n",
		"a/go.mod": "module example.com/tiny\n\ngo 1.24\n", "a/tiny_test.go": uses("tiny", "example.com/other"),
		"other/go.mod": otherMod, "other/other.go": one("1"),
	}
	inside := map[string]string{
		"go.mod":       "module example.com/tiny\n\ngo 1.24\n\nrequire example.com/other v0.0.0\n\nreplace example.com/other => ./other\n",
		"tiny_test.go": uses("tiny", "example.com/other"), "other/go.mod": otherMod, "other/other.go": one("1"),
	}
	outside := map[string]string{
		"go.mod":       "module example.com/tiny\n\ngo 1.24\n\nrequire example.com/other v0.0.0\n\nreplace example.com/other => ../other\n",
		"tiny_test.go": uses("tiny", "example.com/other"),
	}
	return []hostile{
		{name: "dirty worktree", base: tiny(map[string]string{".gitignore": "*.log\nout/\n", "kept.txt": "x", "staged.txt": "x"}),
			head: map[string]string{"tiny.go": strings.Replace(tinyCode, "n + 1", "n + 2", 1), "new.txt": "untracked", "a.log": "ignored", "out/b": "ignored", "kept.txt": ""},
			then: func(t *testing.T, root string) {
				write(t, root, "staged.txt", "staged")
				git(t, root, "add", "staged.txt")
				write(t, root, "staged.txt", "staged, and more")
				git(t, root, "stash", "--quiet", "--include-untracked")
				git(t, root, "stash", "apply", "--quiet", "--index")
				long := time.Now().Add(-time.Hour) // git's index has another time: a status would write it
				if err := os.Chtimes(filepath.Join(root, "go.mod"), long, long); err != nil {
					t.Fatal(err)
				}
			},
			says: []string{" with changes, go1", measured}},
		{name: "missing revision", base: tiny(nil), args: []string{"--base", "nosuch"}, code: 2,
			says: []string{`--base: no revision "nosuch" in this repository`, "git log shows which there are"}},
		{name: "missing head", base: tiny(nil), args: []string{"--base", "one", "--head", "nosuch"}, code: 2,
			says: []string{`--head: no revision "nosuch" in this repository`}},
		{name: "base does not build", base: tiny(map[string]string{"tiny.go": strings.Replace(tinyCode, "n + 1", "m", 1)}), head: map[string]string{"tiny.go": tinyCode}, code: 2,
			says: []string{"base does not build: tiny.go:3:30: undefined: m"}},
		{name: "head does not build", base: tiny(nil), head: map[string]string{"tiny.go": "package tiny\n\nfunc Sum(n int) int { return\n"}, code: 2,
			says: []string{"head does not build: tiny.go:4:1: syntax error"}},
		{name: "tests do not parse", base: tiny(nil), head: map[string]string{"tiny_test.go": tinyTest + "func {\n"}, code: 2,
			says: []string{"head does not build: tiny_test.go:12:6: "}},
		{name: "go.mod is broken", base: tiny(nil), head: map[string]string{"go.mod": "module example.com/tiny\n\nrequire what\n"}, code: 2,
			says: []string{"head does not build: go.mod:3: "}},
		{name: "newer go", base: tiny(nil), head: map[string]string{"go.mod": newer}, code: 2,
			says: []string{"cannot build head: ", "go.mod requires go >= 1.99"}},
		{name: "newer go at base", base: tiny(map[string]string{"go.mod": newer}), head: map[string]string{"go.mod": tinyMod}, code: 2,
			says: []string{"cannot build base: ", "go.mod requires go >= 1.99"}},
		{name: "no commits", base: tiny(nil), code: 2, args: []string{"--base", "HEAD"},
			then: func(t *testing.T, root string) {
				if err := os.RemoveAll(filepath.Join(root, ".git")); err != nil {
					t.Fatal(err)
				}
				git(t, root, "init", "--quiet")
			},
			says: []string{`--base: no revision "HEAD"`}},
		{name: "a requirement that is not there", base: tiny(map[string]string{"go.mod": vendored["go.mod"], "tiny_test.go": vendored["tiny_test.go"]}), code: 2,
			says: []string{"base does not build: ", "example.com/other"}},
		{name: "unruly benchmarks", soak: true, base: tiny(map[string]string{"tiny_test.go": unruly}), says: []string{measured,
			"BenchmarkPanics: both sides: it ends the process: exit status 2: panic: boom\n", "BenchmarkFatal: both sides: it fails: tiny_test.go:17: no luck\n",
			"BenchmarkErrors: both sides: it fails: tiny_test.go:18: wrong\n", "BenchmarkSkips: both sides: it is skipped: tiny_test.go:19: not today\n",
			"BenchmarkExits: both sides: it ends the process: exit status 3\n", "BenchmarkExits0: both sides: it ends the process", "BenchmarkDeadlock: both sides: it ends the process: exit status 2: panic: in a goroutine\n",
			"BenchmarkEmpty, BenchmarkNothing: both sides: its time does not grow", "BenchmarkLater: both sides: it fails: tiny_test.go:33: too many\n",
		}},
		{name: "vendor", soak: true, base: vendored, head: map[string]string{"vendor/example.com/other/other.go": one("2")},
			env: []string{"GOFLAGS=-mod=vendor"}, says: []string{measured, "ones/op", "  1     2 "}},
		{name: "what cannot be cut into slices", soak: true, base: tiny(map[string]string{"long_test.go": "package tiny\n\nimport (\n\t\"testing\"\n\t\"time\"\n)\n\nfunc BenchmarkLong(b *testing.B) {\n\tfor b.Loop() {\n\t\ttime.Sleep(300 * time.Millisecond)\n\t}\n}\n"}),
			says: []string{measured, "\nBenchmarkLong ", "note whole-runs, BenchmarkLong: one iteration takes ", "in whole runs of "}, never: []string{"whole-runs, BenchmarkSum"}},
		{name: "inconsistent vendor", base: vendored, code: 2, head: map[string]string{"vendor/modules.txt": "# example.com/other v1.1.0\n## explicit; go 1.24\nexample.com/other\n"},
			says: []string{"cannot build head: ", "inconsistent vendoring"}},
		{name: "go.work", soak: true, base: work, head: map[string]string{"other/other.go": one("2")}, dir: "a", says: []string{measured, "ones/op", "  1     2 "}},
		{name: "go.work at its top", soak: true, base: work, head: map[string]string{"other/other.go": one("2")}, says: []string{measured, "ones/op", "  1     2 "}},
		{name: "with in a go.work", base: work, dir: "a", args: []string{"--with", "example.com/other=../other"}, code: 2, says: []string{"--with does not reach into a go.work; GOWORK=off"}},
		{name: "cgo", soak: true, base: tiny(map[string]string{"c.go": "package tiny\n\n// static int one(void) { return 1; }\nimport \"C\"\n\nfunc one() int { return int(C.one()) }\n",
			"tiny_test.go": strings.Replace(tinyTest, "Sum(i)", "one()", 1)}), says: []string{measured}},
		{name: "replace inside", soak: true, base: inside, head: map[string]string{"other/other.go": one("2")}, says: []string{measured, "ones/op", "  1     2 "}},
		{name: "replace outside", soak: true, base: outside, head: map[string]string{"README.md": "new"},
			then: func(t *testing.T, root string) {
				write(t, filepath.Dir(root), "other/go.mod", otherMod)
				write(t, filepath.Dir(root), "other/other.go", one("3"))
			},
			says: []string{measured, "ones/op", "  3     3 "}},
		{name: "replace outside that is gone", base: outside, code: 2, says: []string{"base does not build: ", "other"}},
		{name: "noise", soak: true, base: tiny(map[string]string{"tiny_test.go": noisy}), says: []string{measured}, never: []string{"tick", "tock", "without an end", "BenchmarkMain"}},
		{name: "subdirectory", soak: true, dir: "in/here", base: map[string]string{"in/here/go.mod": tinyMod, "in/here/tiny.go": tinyCode, "in/here/tiny_test.go": tinyTest, "README.md": "x"}, says: []string{measured}},
		{name: "subdirectory that base has not", dir: "new", base: tiny(nil), head: map[string]string{"new/go.mod": tinyMod, "new/tiny.go": tinyCode, "new/tiny_test.go": tinyTest}, code: 2,
			says: []string{"--base one: it has no directory new\n"}},
		{name: "submodule", soak: true, base: tiny(nil), args: []string{"--base", "two"}, then: func(t *testing.T, root string) {
			third := filepath.Join(filepath.Dir(root), "third")
			if err := os.Mkdir(third, 0o755); err != nil {
				t.Fatal(err)
			}
			git(t, third, "init", "--quiet")
			write(t, third, "x.txt", "x")
			git(t, third, "add", ".")
			git(t, third, "commit", "--quiet", "-m", "x")
			git(t, root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", third, "third")
			git(t, root, "commit", "--quiet", "-am", "two")
			git(t, root, "tag", "two")
		}, says: []string{measured, "note partial-revision: two (", "submodule third is left empty"}},
		{name: "shallow clone", base: tiny(nil), args: []string{"--base", "HEAD~1"}, code: 2,
			then: func(t *testing.T, root string) {
				git(t, root, "commit", "--quiet", "--allow-empty", "-m", "two")
				away := root + ".away"
				if err := os.Rename(root, away); err != nil {
					t.Fatal(err)
				}
				git(t, filepath.Dir(root), "clone", "--quiet", "--depth=1", "file://"+away, root)
			},
			says: []string{`--base: no revision "HEAD~1"`, "shallow"}},
		{name: "read-only tree", soak: true, base: tiny(nil), then: readOnly, says: []string{measured}},
		{name: "build tags", soak: true, base: tiny(map[string]string{"tagged_test.go": "//go:build special\n\n" + strings.NewReplacer("BenchmarkSum", "BenchmarkTagged", "var sink int\n", "").Replace(tinyTest)}),
			env: []string{"GOFLAGS=-tags=special"}, says: []string{measured, "\nBenchmarkTagged "}},
		{name: "internal and external tests", soak: true, base: tiny(map[string]string{
			"outer_test.go": "package tiny_test\n\nimport (\n\t\"testing\"\n\n\t\"example.com/tiny\"\n)\n\nfunc BenchmarkOuter(b *testing.B) {\n\tfor b.Loop() {\n\t\ttiny.Sum(1)\n\t}\n}\n",
			"inner/a.go":    "package inner\n", "inner/a_test.go": "package inner_test\n\nimport \"testing\"\n\nfunc BenchmarkOnly(b *testing.B) {\n\tfor b.Loop() {\n\t\t_ = 1\n\t}\n}\n",
		}), says: []string{measured, "\nBenchmarkOuter ", "\ninner.BenchmarkOnly "}},
	}
}

// readOnly takes everybody's right to write below root, until the test is over.
func readOnly(t *testing.T, root string) {
	t.Helper()
	chmod := func(files, dirs fs.FileMode) {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() {
				return os.Chmod(path, dirs)
			}
			return os.Chmod(path, files)
		})
	}
	chmod(0o444, 0o555)
	t.Cleanup(func() { chmod(0o644, 0o755) })
}
