package samecode

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/testtare"
	"github.com/tarebench/tare/internal/assert"
)

const source = `package m

import "sort"

var extra = 0

type shape interface{ area() int }
type square struct{ side int }

func (s square) area() int { return s.side * s.side }

//go:noinline
func loop(n int) (t int) {
	for i := 0; i < n+extra; i++ {
		t += i * i % 7
	}
	return t
}

//go:noinline
func other(n int) int { return n + 1 }

func sorted(x []int) { sort.Slice(x, func(i, j int) bool { return x[i] < x[j] }) }

// A benchmark reaches what follows through data only.

type operation struct {
	name string
	run  func(n int) int
}

var static = []*operation{{"double", func(n int) int { return double(n) }}}

//go:noinline
func double(n int) int { return n * 2 }

var stored = map[string]func(n int) int{}

func init() {
	stored["triple"] = func(n int) int { return triple(n) }
	register("half")
}

func register(name string) {
	stored[name] = func(n int) int { return half(n) }
}

//go:noinline
func triple(n int) int { return n * 3 }

//go:noinline
func half(n int) int { return n / 2 }

type machine struct{ state int }

//go:noinline
func (m *machine) init() { m.state = 1 }

//go:noinline
func (m *machine) TestState() bool { return m.state == 1 }

var started = func() *machine { return &machine{} }()

//go:noinline
func TestLike(n int) int { return n - 1 }

var table = []func(int) int{TestLike}
`

const tests = `package m

import "testing"

var sink int

func BenchmarkLoop(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sink = loop(100)
	}
}

func BenchmarkOther(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sink = other(100)
	}
}

func BenchmarkSort(b *testing.B) {
	for i := 0; i < b.N; i++ {
		sorted([]int{3, 1, 2})
	}
}

func BenchmarkTable(b *testing.B) {
	for i := 0; i < b.N; i++ {
		started.init()
		if started.TestState() {
			sink = static[0].run(i) + stored["triple"](i) + stored["half"](i) + table[0](i)
		}
	}
}

func BenchmarkArea(b *testing.B) {
	shapes := []shape{square{1}, square{2}}
	for i := 0; i < b.N; i++ {
		sink = shapes[i&1].area()
	}
}
`

// built returns the program of the module above with a change. The cache of tests
// keeps it: the toolchain and the texts decide all of it.
func built(t *testing.T, text, layout, arch string) *Program {
	t.Helper()
	release, err := exec.Command("go", "env", "GOVERSION").Output()
	assert.NoError(t, "command", err)
	key := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s\n%s\n%s", release, arch, layout, text, tests))
	path := filepath.Join(testtare.Cache(t), "samecode", hex.EncodeToString(key[:10]))
	p, err := Open(path)
	if errors.Is(err, os.ErrNotExist) {
		build(t, path, text, layout, arch)
		p, err = Open(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// build builds the program at path, whole or not at all.
func build(t *testing.T, path, text, layout, arch string) {
	t.Helper()
	assert.NoError(t, "make a directory", os.MkdirAll(filepath.Dir(path), 0o700))
	dir, err := os.MkdirTemp(filepath.Dir(path), "making-")
	assert.NoError(t, "make a directory", err)
	defer os.RemoveAll(dir)
	for name, text := range map[string]string{"go.mod": "module example.com/m.v2\n\ngo 1.25\n", "m.go": text, "m_test.go": tests} {
		assert.NoError(t, "write a file", os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	cmd := exec.Command("go", "test", "-c", "-vet=off", "-o", "m.test", "-ldflags=-s -w -randlayout="+layout)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOOS=linux", "CGO_ENABLED=0", "GOARCH="+arch)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	assert.NoError(t, "rename", os.Rename(filepath.Join(dir, "m.test"), path))
}

func TestSame(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	own := func(path string) bool { return path == "example.com/m.v2" }
	all := []string{"BenchmarkLoop", "BenchmarkOther", "BenchmarkSort", "BenchmarkArea", "BenchmarkTable"}
	for _, arch := range []string{"amd64", "arm64"} {
		if testing.Short() && arch != runtime.GOARCH {
			continue
		}
		base := built(t, source, "1", arch)
		for _, c := range []struct {
			name, old, now string
			same           []string
		}{
			{"another layout", "", "", all},
			{"a comment", "package m\n", "package m // a comment\n", all},
			{"data", "extra = 0", "extra = 300", all},
			{"functions in another order", "func loop", "func unused() {}\n\n//go:noinline\nfunc loop", all},
			{"a function that one calls", "n + 1", "n + 2", []string{"BenchmarkLoop", "BenchmarkSort", "BenchmarkArea", "BenchmarkTable"}},
			{"a function literal", "x[i] < x[j]", "x[i] > x[j]", []string{"BenchmarkLoop", "BenchmarkOther", "BenchmarkArea", "BenchmarkTable"}},
			{"a method", "s.side * s.side", "s.side + s.side", nil}, // anybody may call it
			{"a loop", "% 7", "% 9", []string{"BenchmarkOther", "BenchmarkSort", "BenchmarkArea", "BenchmarkTable"}},
			{"what a literal in a variable calls", "n * 2", "n * 4", nil}, // anybody may call these
			{"what a literal stored by init calls", "n * 3", "n * 5", nil},
			{"what a literal stored by a function of init calls", "n / 2", "n / 4", nil},
			{"a method called init", "m.state = 1", "m.state = 2", nil},
			{"a method called as a test", "m.state == 1", "m.state != 1", nil},
			{"a function called as a test", "n - 1", "n - 2", nil},
		} {
			d := Compare(base, built(t, strings.Replace(source, c.old, c.now, 1), "2", arch), own)
			var same []string
			for _, b := range all {
				if d.IsSame("example.com/m.v2", b) {
					same = append(same, b)
				}
			}
			if !slices.Equal(same, c.same) {
				t.Errorf("%s, %s: the same for %q, want %q; %v differ", arch, c.name, same, c.same, d.differing)
			}
			if d.IsSame("example.com/m.v2", "BenchmarkGone") {
				t.Errorf("%s: the same for a benchmark that there is not", c.name)
			}
		}
	}
}

// TestDistance changes one function, which BenchmarkOther calls, and another one, which only BenchmarkSort and its
// literal reach.
func TestDistance(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	own := func(path string) bool { return path == "example.com/m.v2" }
	base := built(t, source, "1", runtime.GOARCH)
	for _, c := range []struct {
		old, now, benchmark string
		want                int // -1: no calls lead there
	}{
		{"n + 1", "n + 2", "BenchmarkOther", 1},
		{"n + 1", "n + 2", "BenchmarkSort", -1},
		{"x[i] < x[j]", "x[i] > x[j]", "BenchmarkSort", 1}, // sorted is inlined, and its literal is called
		{"x[i] < x[j]", "x[i] > x[j]", "BenchmarkGone", -1},
		{"s.side * s.side", "s.side + s.side", "BenchmarkLoop", -1}, // indirect calls do not count
	} {
		d := Compare(base, built(t, strings.Replace(source, c.old, c.now, 1), "2", runtime.GOARCH), own)
		calls, ok := d.Distance("example.com/m.v2", c.benchmark)
		if !ok {
			calls = -1
		}
		if calls != c.want {
			t.Errorf("%s changed: %d calls from %s, want %d", c.old, calls, c.benchmark, c.want)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "text")
	assert.NoError(t, "write a file", os.WriteFile(path, []byte("no program"), 0o600))
	if _, err := Open(path); !errors.Is(err, ErrUnknown) {
		t.Errorf("a text: %v", err)
	}
	if _, err := Open(path + ".gone"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if runtime.GOOS == "linux" {
		if _, err := Open("/bin/sh"); err == nil {
			t.Error("a program without functions of Go: no error")
		}
	}
}
