package gobench

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/trial"
)

// trialSpec returns a trial of the package's binary with the flags, the directory and the
// environment that go test gives it, and args after them. See cmd/go/internal/test
// (runTestActor.Act): it omits flags that select benchmarks, and the time limit, since tare has its
// own.
func (s Suite) trialSpec(of trial.Spec, p Package, args ...string) trial.Spec {
	of.Path, of.Dir = p.Binary, p.Dir
	of.Args = append([]string{"-test.paniconexit0", "-test.bench=" + cmp.Or(s.Bench, ".")}, args...)
	of.Env = append(s.Environment(p), of.Env...)
	return of
}

// Environment returns the environment that go test gives the binary of p.
func (s Suite) Environment(p Package) []string {
	given := []string{"PWD=" + p.Dir}
	if s.GOROOT != "" {
		given = append(given, "PATH="+filepath.Join(s.GOROOT, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	return slices.Concat(build.Environment(os.Environ()), given, s.Env)
}

// maxPrinted is the number of bytes of a package's output that are read.
const maxPrinted = 4 << 20

// RunPlain runs benchmarks of a package without the test that tare adds, as go
// test -bench does, and returns what is printed. Later args override earlier ones.
func (s Suite) RunPlain(ctx context.Context, of trial.Spec, key string, args ...string) (printed string, err error) {
	p, ok := s.Packages[key]
	if !ok {
		return "", fmt.Errorf("run %s: the suite has no such package", key)
	}
	of = s.trialSpec(of, p, append([]string{"-test.run=^$"}, args...)...)
	of.Stdout = maxPrinted
	c, err := trial.StartCommand(ctx, of)
	if err != nil {
		return "", err
	}
	defer c.Close(context.WithoutCancel(ctx))
	select {
	case <-c.Exited():
		return c.Output("its benchmarks")
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

var printedResult = regexp.MustCompile(`(?:^|\D)(\d+)\t *([0-9.e+]+) ns/op`)

// PrintedResults returns the results in ns/op that go test -bench printed of one benchmark with
// GOMAXPROCS procs, 0 if unknown. The benchmark's own output may be between its name and the
// result: the last figure before its log counts, and only that of ops iterations if ops is
// positive.
func PrintedResults(printed, name string, procs int, ops int64) (ns []float64) {
	suffix := `(?:-\d+)?`
	if procs > 0 {
		suffix = procsSuffix(procs)
	}
	line := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + suffix + ` *\t`)
	at := line.FindAllStringIndex(printed, -1)
	for i, loc := range at {
		end := len(printed)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		text := printed[loc[1]:end]
		if next := nextLine.FindStringIndex(text); next != nil {
			text = text[:next[0]]
		}
		for _, m := range slices.Backward(printedResult.FindAllStringSubmatch(text, -1)) {
			if n, _ := strconv.ParseInt(m[1], 10, 64); ops > 0 && n != ops {
				continue
			}
			if x, err := strconv.ParseFloat(m[2], 64); err == nil {
				ns = append(ns, x)
				break
			}
		}
	}
	return ns
}

// procsSuffix returns what testing appends to names in results.
func procsSuffix(procs int) string {
	if procs == 1 {
		return ""
	}
	return "-" + strconv.Itoa(procs)
}

// nextLine matches the beginning of the line of another benchmark, and of the log
// of this one.
var nextLine = regexp.MustCompile(`(?m)^(Benchmark\S* *\t|--- )`)

// Exactly returns the pattern of -test.bench that only the benchmark of a name
// matches.
func Exactly(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}
