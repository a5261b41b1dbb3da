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
	"github.com/tarebench/tare/internal/lazyregexp"
	"github.com/tarebench/tare/internal/trial"
)

// This file runs test binaries as go test -bench does, and reads what they print.

// trialSpec returns the configuration of a process of package p as go test starts it (see
// runTestActor.Act in cmd/go/internal/test). args follow the flags. The time limit of go test is
// missing, because tare sets another.
func (s Suite) trialSpec(base trial.Spec, p Package, args ...string) trial.Spec {
	spec := base
	spec.Path, spec.Dir = p.Binary, p.Dir
	spec.Args = append([]string{"-test.paniconexit0", "-test.bench=" + cmp.Or(s.Bench, ".")}, args...)
	spec.Env = append(s.Environment(p), base.Env...)
	return spec
}

// Environment returns the environment in which go test runs the binary of p.
func (s Suite) Environment(p Package) []string {
	added := []string{"PWD=" + p.Dir}
	if s.GOROOT != "" {
		added = append(added, "PATH="+filepath.Join(s.GOROOT, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	return slices.Concat(build.Environment(os.Environ()), added, s.Env)
}

// maxPrinted limits the bytes of a package's output.
const maxPrinted = 4 << 20

// RunPlain runs benchmarks as go test -bench does, and returns their output. key is the package's
// key in s.Packages. args override the flags of go test.
func (s Suite) RunPlain(ctx context.Context, base trial.Spec, key string, args ...string) (printed string, err error) {
	p, ok := s.Packages[key]
	if !ok {
		return "", fmt.Errorf("run %s: the suite has no such package", key)
	}
	spec := s.trialSpec(base, p, append([]string{"-test.run=^$"}, args...)...)
	spec.Stdout = maxPrinted
	c, err := trial.StartCommand(ctx, spec)
	if err != nil {
		return "", err
	}
	defer c.Close(context.WithoutCancel(ctx))
	return c.AwaitOutput(ctx, "its benchmarks")
}

// printedResult matches a result, e.g. "1000\t   1234 ns/op".
var printedResult = lazyregexp.New(`(?:^|\D)(\d+)\t *([0-9.e+]+) ns/op`)

// nextLine matches the start of a line after a result: "BenchmarkOther-8  ", or the log "--- BENCH:
// …".
var nextLine = lazyregexp.New(`(?m)^(Benchmark\S* *\t|--- )`)

// PrintedResults returns the ns/op of one benchmark in the output of go test -bench:
//
//	BenchmarkEncode-8   anything that the benchmark prints   1000   1234 ns/op
//
// A benchmark may itself print text such as "5 1 ns/op" before its result. procs is GOMAXPROCS, or
// 0 if unknown. If ops is positive, only results of that number of iterations count.
func PrintedResults(printed, name string, procs int, ops int64) (ns []float64) {
	suffix := `(?:-\d+)?`
	if procs > 0 {
		suffix = procsSuffix(procs)
	}
	line := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + suffix + ` *\t`)
	matches := line.FindAllStringIndex(printed, -1)
	for i, match := range matches {
		end := len(printed)
		if i+1 < len(matches) {
			end = matches[i+1][0]
		}
		text := printed[match[1]:end] // up to the next run of the same benchmark
		if next := nextLine.FindStringIndex(text); next != nil {
			text = text[:next[0]]
		}
		if x, ok := lastResult(text, ops); ok {
			ns = append(ns, x)
		}
	}
	return ns
}

// lastResult returns the last ns/op in text. If ops is positive, only results of that number of
// iterations count.
func lastResult(text string, ops int64) (ns float64, ok bool) {
	for _, groups := range printedResult.FindAllStringSubmatch(text, -1) {
		n, _ := strconv.ParseInt(groups[1], 10, 64) // 0 after an error: not the number of a run
		x, err := strconv.ParseFloat(groups[2], 64)
		hasOps := ops <= 0 || n == ops
		if err == nil && hasOps {
			ns, ok = x, true
		}
	}
	return ns, ok
}

func procsSuffix(procs int) string {
	if procs == 1 {
		return ""
	}
	return "-" + strconv.Itoa(procs)
}

// Exactly returns a pattern for -test.bench that matches only the benchmark called name.
func Exactly(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}
