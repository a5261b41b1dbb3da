package e2e

import (
	"archive/zip"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tarebench/tare"
)

// telling reports as metrics of its own what it was built and is run with.
const telling = `package tiny

import (
	"reflect"
	"runtime/debug"
	"testing"

	"example.com/other"
)

func BenchmarkSum(b *testing.B) {
	for i := 0; i < b.N; i++ {
		Sum(i)
	}
	gogc := debug.SetGCPercent(100)
	debug.SetGCPercent(gogc)
	b.ReportMetric(float64(gogc), "gogc")
	b.ReportMetric(other.One(), "other")
	b.ReportMetric(tagged, "tagged")
	b.ReportMetric(float64(reflect.ValueOf(Sum).Pointer())-float64(reflect.ValueOf(other.One).Pointer()), "apart")
}
`

// side is a repository whose module requires example.com/other, and a proxy
// that has two versions of that.
type side struct {
	root string
	env  []string
}

func newSide(t *testing.T) side {
	t.Helper()
	parent := t.TempDir()
	proxy, modules := filepath.Join(parent, "proxy"), filepath.Join(parent, "modules")
	for version, value := range map[string]string{"v1.0.0": "1", "v1.1.0": "2"} {
		publish(t, proxy, version, map[string]string{"go.mod": otherMod, "other.go": strings.Replace(one(value), "int", "float64", 1)})
	}
	write(t, parent, "beside/go.mod", otherMod)
	write(t, parent, "beside/other.go", strings.Replace(one("3"), "int", "float64", 1))
	s := side{env: []string{"GOPROXY=file://" + proxy, "GOSUMDB=off", "GOMODCACHE=" + modules, "GOFLAGS=-modcacherw"}}
	s.root = hostile{base: map[string]string{
		"go.mod":  "module example.com/tiny\n\ngo 1.24\n\nrequire example.com/other v1.0.0\n",
		"tiny.go": "package tiny\n\nimport \"example.com/other\"\n\nfunc Sum(n int) int { return n + int(other.One()) }\n",
		"off.go":  "//go:build !special\n\npackage tiny\n\nconst tagged = 0\n", "on.go": "//go:build special\n\npackage tiny\n\nconst tagged = 1\n",
		"tiny_test.go": telling,
	}}.tidy(t, parent)
	s.run(t, "go", "mod", "tidy")
	git(t, s.root, "add", "--all")
	git(t, s.root, "commit", "--quiet", "-m", "tidy")
	return s
}

func (s side) run(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = s.root, append(append(os.Environ(), "GOWORK=off"), s.env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
}

// publish puts a version of example.com/other into a proxy that is a directory.
func publish(t *testing.T, proxy, version string, files map[string]string) {
	t.Helper()
	at := filepath.Join("example.com/other/@v", version)
	write(t, proxy, at+".info", `{"Version":"`+version+`"}`)
	write(t, proxy, at+".mod", files["go.mod"])
	f, err := os.Create(filepath.Join(proxy, at+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	for name, text := range files {
		w, err := z.Create("example.com/other@" + version + "/" + name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
}

// measure is what each side reports of itself, and the result.
func (s side) measure(t *testing.T, b bench, args ...string) (base, head map[string]float64, r tare.Result) {
	t.Helper()
	before := tree(t, s.root)
	stdout, stderr, code := b.measure(t, s.root, s.env, append(args, "--rounds", "1", "--slice", "1ms", "--json")...)
	if code != 0 {
		t.Fatalf("%v: exit code %d: %s", args, code, stderr)
	}
	if diff := changed(before, tree(t, s.root)); len(diff) > 0 {
		t.Errorf("%v: the repository was changed:\n%s", args, strings.Join(diff, "\n"))
	}
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err)
	}
	told := map[string]map[string]float64{}
	for _, trial := range r.Trials {
		told[trial.Contender] = map[string]float64{}
		for key, value := range trial.Samples["example.com/tiny.BenchmarkSum"] {
			if unit, ok := strings.CutPrefix(key, tare.KeyReported); ok {
				told[trial.Contender][unit] = value
			}
		}
	}
	if b, c := told["base"], told["control"]; b["apart"] == c["apart"] && !maps.Equal(b, c) {
		t.Errorf("%v: the control is another program than base: %v, %v", args, b, c)
	}
	return told["base"], told["head"], r
}

// Each way to have two sides of the same files really builds and runs two that
// differ in that, and in nothing else. Each trial of a side is a program with its
// functions in other places, unless one build is asked for.
func TestBenchSidesDiffer(t *testing.T) {
	if testing.Short() {
		t.Skip("builds two sides, and each again for every trial")
	}
	t.Parallel()
	for _, tool := range []string{"git", "go"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(tool + " is not here")
		}
	}
	b, s := newBench(t), newSide(t)
	percent := 100.0 // the benchmarks inherit GOGC
	if n, err := strconv.ParseFloat(os.Getenv("GOGC"), 64); err == nil {
		percent = n
	}
	type want map[string][2]float64 // by unit: base, head
	for _, tt := range []struct {
		soak bool
		args []string
		want want
	}{
		{false, []string{"--with", "example.com/other@v1.1.0", "--tags", "special", "--env", "GOGC=50", "--layouts", "0"}, want{"other": {1, 2}, "tagged": {0, 1}, "gogc": {percent, 50}}},
		{false, []string{"--env", "GOGC=50", "--layouts", "1"}, want{"gogc": {percent, 50}}},
		{true, []string{"--with", "example.com/other=../beside"}, want{"other": {1, 3}}},
		{true, []string{"--tags", "special"}, want{"tagged": {0, 1}}},
	} {
		if tt.soak && os.Getenv("TARE_SOAK") == "" {
			continue
		}
		base, head, r := s.measure(t, b, tt.args...)
		for unit := range base {
			w, differs := tt.want[unit]
			switch {
			case unit == "apart":
			case differs && (base[unit] != w[0] || head[unit] != w[1]):
				t.Errorf("%v: %s is %v at base and %v at head, want %v", tt.args, unit, base[unit], head[unit], w)
			case !differs && base[unit] != head[unit]:
				t.Errorf("%v: %s differs: %v, %v", tt.args, unit, base[unit], head[unit])
			}
		}
		if len(base) != 4 {
			t.Errorf("%v: base reports %v", tt.args, base)
		}
		apart, trials := map[float64]bool{}, 0
		for _, trial := range r.Trials {
			if v, ok := trial.Samples["example.com/tiny.BenchmarkSum"][tare.KeyReported+"apart"]; ok {
				apart[v] = true
				trials++
			}
		}
		if same := slices.Contains(tt.args, "1"); trials < 3 || same && len(apart) != 1 || !same && len(apart) != trials {
			t.Errorf("%v: functions are apart by %v in %d trials", tt.args, apart, trials)
		}
	}
}

// Of a profile and of another toolchain nothing shows but what was built: with
// a profile everything is compiled again that the benchmarks need.
func TestBenchSidesAreBuiltApart(t *testing.T) {
	t.Parallel()
	if os.Getenv("TARE_SOAK") == "" {
		t.Skip("under make soak: it compiles the standard library again")
	}
	b := newBench(t)
	s := side{root: hostile{base: tiny(nil)}.tidy(t, t.TempDir())}
	beside := filepath.Dir(s.root)
	profile := filepath.Join(beside, "cpu.pprof")
	s.run(t, "go", "test", "-run=^$", "-bench=.", "-benchtime=50ms", "-cpuprofile="+profile, "-o", filepath.Join(beside, "tiny.test"))
	const release = "go1.25.0"
	for _, args := range [][]string{{"--pgo", profile}, {"--go", "local," + release}} {
		if args[0] == "--go" && !has(release) {
			t.Logf("%s is not here", release)
			continue
		}
		_, _, r := s.measure(t, b, args...)
		base, _ := r.Contender("base")
		head, _ := r.Contender("head")
		control, _ := r.Contender("control")
		if base.SHA256 == head.SHA256 || base.SHA256 != control.SHA256 {
			t.Errorf("%v: base is %.9s, control %.9s, head %.9s", args, base.SHA256, control.SHA256, head.SHA256)
		}
		if wants := args[0] == "--go"; wants != (head.Go == release) || !strings.Contains(head.Version, " with ") {
			t.Errorf("%v: head is %q, built with %s", args, head.Version, head.Go)
		}
	}
}

// has reports whether a toolchain is on this machine.
func has(release string) bool {
	cmd := exec.Command("go", "version")
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN="+release, "GOPROXY=off")
	out, err := cmd.Output()
	return err == nil && strings.Contains(string(out), " "+release+" ")
}
