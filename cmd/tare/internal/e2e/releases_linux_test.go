package e2e

import (
	"encoding/json"
	"go/version"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
)

// twoToolchains returns the installed toolchain without and with an experiment, so that nothing is
// downloaded. X: and the experiment end the version of what the second one builds.
func twoToolchains(t *testing.T) (first, second, suffix string) {
	t.Helper()
	release := runtime.Version()
	if !version.IsValid(release) {
		t.Skipf("%s is not a release that can be named", release)
	}
	experiment := "jsonv2"
	if version.Compare(release, "go1.27") >= 0 {
		experiment = "nojsonv2"
	}
	return release, release + "+" + experiment, "X:" + experiment
}

// readResult parses a result.
func readResult(t *testing.T, text string) (r tare.Result) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return r
}

// TestRouterReleases has the real program build two routers with two toolchains. An experiment that changes
// nothing in net/http changes no answer.
func TestRouterReleases(t *testing.T) {
	if testing.Short() {
		t.Skip("builds routers with two toolchains")
	}
	t.Parallel()
	first, second, suffix := twoToolchains(t)
	b, dir := newBench(t), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "r.txt"), []byte("GET /a\nGET /a/{id}\nPUT /a/{id}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := b.in(t, dir, "routes", "r.txt", "--go", first+","+second, "--only", "chi", "--workload", "all", "--rounds", "1", "--json", "--quiet", "--no-lock")
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	r := readResult(t, stdout)
	for _, id := range []string{"nethttp-" + first, "nethttp-" + second, "chi-" + first, "chi-" + second} {
		c, ok := r.Contender(id)
		isSecond := strings.HasSuffix(id, second)
		if !ok || !strings.HasPrefix(c.Go, first) || strings.HasSuffix(c.Go, suffix) != isSecond {
			t.Errorf("%s was built by %q", id, c.Go)
		}
		if !slices.ContainsFunc(r.Semantics, func(s tare.Semantics) bool { return s.Contender == id && s.Cases > 0 }) {
			t.Errorf("%s was not tested", id)
		}
	}
	if len(r.Decomposition) != 1 || r.Decomposition[0].Whole.Ratio <= 0 || r.Decomposition[0].Whole.From != "chi-"+first {
		t.Errorf("chi is compared with itself by %+v", r.Decomposition)
	}
	if r.Study != "routes-go" || r.Baseline() != "nethttp-"+first {
		t.Errorf("study %s, baseline %s", r.Study, r.Baseline())
	}
	_, stderr, code = b.in(t, dir, "routes", "r.txt", "--go", first+","+first+"+nosuchone", "--rounds", "1", "--quiet", "--no-lock")
	if code != 2 || !strings.HasPrefix(stderr, "tare: --go "+first+"+nosuchone: ") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

const tinyService = `package main

import (
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
)

func main() {
	port, dir := flag.String("port", "", ""), flag.String("dir", "", "")
	flag.Parse()
	if err := os.WriteFile(filepath.Join(*dir, runtime.Version()), nil, 0o600); err != nil {
		panic(err)
	}
	panic(http.ListenAndServe("127.0.0.1:"+*port, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})))
}
`

// TestServiceReleases has the real program build a service with two toolchains, and load both.
func TestServiceReleases(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a service with two toolchains and loads it for 10 s")
	}
	t.Parallel()
	first, second, suffix := twoToolchains(t)
	b, dir, seen := newBench(t), t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/tiny\n\ngo 1.25\n", "main.go": tinyService, "lib/lib.go": "package lib\n"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	load := func(start string, args ...string) (stdout, stderr string, code int) {
		return b.in(t, dir, append([]string{"load", "--start", start, "--json", "--quiet", "--no-lock", "-c", "1", "-d", "10s", "/"}, args...)...)
	}
	stdout, stderr, code := load("env GOWORK=off go run . -port $PORT -dir "+seen, "--go", first+","+second)
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	r := readResult(t, stdout)
	for _, id := range []string{first, second} {
		if c, ok := r.Contender(id); !ok || !slices.Contains(c.Command, "-port") || c.Launch != tare.LaunchCommand {
			t.Errorf("%s is %+v", id, c)
		}
	}
	ran, err := os.ReadDir(seen)
	if err != nil || len(ran) != 2 || ran[0].Name() != first || !strings.HasSuffix(ran[1].Name(), suffix) {
		t.Errorf("what ran was built by %v, %v", ran, err)
	}
	for start, want := range map[string]string{"go run ./lib $PORT": ": ./lib is not a program\n", "go run ./nowhere $PORT": "nowhere"} {
		if _, stderr, code := load(start, "--go", first+","+second); code != 2 || !strings.HasPrefix(stderr, "tare: --go "+first+": ") || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit code %d: %s", start, code, stderr)
		}
	}
	b.nothingLeft(t, "after the services")
}
