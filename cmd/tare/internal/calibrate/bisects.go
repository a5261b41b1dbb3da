package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare/stats"
)

// A search looks for the planted commit: it makes a function of a generated repository slower.
// Other commits change the time only a little and add functions that nothing calls. Each seed has a
// repository of its own, which both tools search.
const (
	searchCommits  = 32   // commits after the good commit
	spinIterations = 5000 // iterations of the function's loop at the good commit
	firstSeed      = 3001
	benchCount     = 10 // -count of go test, as users of benchstat usually set it
)

// searchKind says how much the commits of a search change.
type searchKind struct {
	metric string
	effect float64 // share of iterations that the planted commit adds
	noise  float64 // largest share of any other commit
	file   string  // name of the files with results and the table
}

var searchKinds = map[string]searchKind{
	"time":         {metric: "time", effect: 0.08, noise: 0.01, file: "bisects"},
	"instructions": {metric: "instructions", effect: 0.01, noise: 0.001, file: "bisects-counts"},
}

// Files of a generated repository. The verbs of searchSource are the iterations of the loop in
// Spin, and the functions before and after it. Those of searchFunction are the number of the
// commit, and a factor.
const (
	searchModule = `module example.com/search

go 1.24
`
	searchSource = `// Package search takes as long as it is told to.
package search

const turns = %.0f
%s
// Spin is a chain of arithmetic.
func Spin(x uint64) uint64 {
	for range turns {
		x ^= x >> 33
		x *= 0xff51afd7ed558ccd
	}
	return x
}
%s`
	searchFunction = `
// More%d is another function.
func More%[1]d(n int) (t int) {
	for i := range n {
		t += i*%[2]d ^ t
	}
	return t
}
`
	searchTest = `package search

import "testing"

var sink uint64

func BenchmarkSpin(b *testing.B) {
	for b.Loop() {
		sink = Spin(sink + 1)
	}
}
`
)

// Search is the stored result of one seed, for both tools.
type Search struct {
	Seed        uint64 `json:"seed"`
	Planted     int    `json:"planted"` // number of the commit, from 1
	Tare        Found  `json:"tare"`
	Git         Found  `json:"git_bisect"`
	LoadAverage string `json:"load_average"` // "" if unknown
}

// Found is the result of one search.
type Found struct {
	Commit   int     `json:"commit"` // number of the named commit; 0 if none was
	Measured int     `json:"measured"`
	Seconds  float64 `json:"seconds"` // builds included
}

// runSearches runs the missing searches of the first n seeds, and writes the table. If bin is "",
// it runs none.
func (k searchKind) runSearches(ctx context.Context, bin, dir string, n int, table, stderr io.Writer) error {
	path := filepath.Join(dir, k.file+".ndjson")
	lines, err := readLines(path, func(s Search) uint64 { return s.Seed })
	if err != nil {
		return err
	}
	if bin != "" {
		measure := func(seed uint64) (Search, error) { return k.searchBoth(ctx, bin, seed) }
		err := addMissing(path, lines, firstSeed, n, measure, func(s Search) {
			fmt.Fprintf(stderr, "bisect: seed %d, planted %d; tare: %d by %d commits in %.0f s; git bisect: %d by %d in %.0f s\n", s.Seed, s.Planted,
				s.Tare.Commit, s.Tare.Measured, s.Tare.Seconds, s.Git.Commit, s.Git.Measured, s.Git.Seconds)
		})
		if err != nil {
			return err
		}
	}
	writeSearchTable(table, lines)
	return nil
}

func writeSearchTable(table io.Writer, lines map[uint64]Search) {
	fmt.Fprintln(table, "| | right | named another | named none | commits measured | minutes |\n|---|---|---|---|---|---|")
	if len(lines) == 0 {
		fmt.Fprintln(table, "| not searched yet | | | | | |")
		return
	}
	for _, tool := range []struct {
		name   string
		result func(Search) Found
	}{
		{"`tare bisect`", func(s Search) Found { return s.Tare }},
		{fmt.Sprintf("`git bisect run`, `go test -count=%d` and benchstat's test", benchCount), func(s Search) Found { return s.Git }},
	} {
		var correct, wrong, none int
		var measured, minutes []float64
		for _, s := range lines {
			f := tool.result(s)
			switch f.Commit {
			case s.Planted:
				correct++
			case 0:
				none++
			default:
				wrong++
			}
			measured, minutes = append(measured, float64(f.Measured)), append(minutes, f.Seconds/60)
		}
		fmt.Fprintf(table, "| %s | %d of %d | %d | %d | %.0f (%.0f–%.0f) | %.1f (%.1f–%.1f) |\n", tool.name, correct, len(lines), wrong, none,
			stats.Median(measured), slices.Min(measured), slices.Max(measured), stats.Median(minutes), slices.Min(minutes), slices.Max(minutes))
	}
}

func (k searchKind) searchBoth(ctx context.Context, bin string, seed uint64) (Search, error) {
	s := Search{Seed: seed, LoadAverage: loadAverage()}
	tmp, err := os.MkdirTemp("", "tare-bisects-")
	if err != nil {
		return s, err
	}
	defer os.RemoveAll(tmp)
	repo := filepath.Join(tmp, "repo")
	var commits []string
	if s.Planted, commits, err = k.writeHistory(ctx, repo, seed); err != nil {
		return s, err
	}
	// commitNumber returns the position of a hash in the history. It is 0 for an unknown hash and
	// for the good commit: the tool has found nothing.
	commitNumber := func(commit string) int {
		if commit == "" {
			return 0
		}
		i := slices.IndexFunc(commits, func(c string) bool { return strings.HasPrefix(c, commit) })
		return max(0, i)
	}
	if s.Tare, err = k.searchByTare(ctx, bin, tmp, repo, commits[0], commitNumber); err == nil {
		s.Git, err = k.searchByGit(ctx, tmp, repo, commits[0], commitNumber)
	}
	return s, err
}

// writeHistory creates a repository with a good commit and searchCommits after it. It returns the
// number of the planted commit and all hashes, the good one first.
func (k searchKind) writeHistory(ctx context.Context, repo string, seed uint64) (planted int, commits []string, err error) {
	rng := rand.New(rand.NewPCG(seed, 8)) // 8 has no meaning, but must stay: stored searches depend on it
	planted = 1 + rng.IntN(searchCommits)
	if err := os.MkdirAll(repo, 0o755); err != nil {
		return 0, nil, err
	}
	if _, err := runCommand(ctx, repo, "git", "init", "--quiet", "--initial-branch=main"); err != nil {
		return 0, nil, err
	}
	var before, after strings.Builder // functions before and after Spin
	for i := range searchCommits + 1 {
		iterations := float64(spinIterations)
		if i > 0 {
			iterations *= 1 + k.noise*(2*rng.Float64()-1)
			side := []*strings.Builder{&before, &after}[rng.IntN(2)]
			fmt.Fprintf(side, searchFunction, i, 3+rng.IntN(90))
		}
		if i >= planted {
			iterations *= 1 + k.effect
		}
		for name, text := range map[string]string{
			"go.mod":         searchModule,
			"search.go":      fmt.Sprintf(searchSource, iterations, before.String(), after.String()),
			"search_test.go": searchTest,
		} {
			if err := os.WriteFile(filepath.Join(repo, name), []byte(text), 0o644); err != nil {
				return 0, nil, err
			}
		}
		if err := commitAll(ctx, repo, fmt.Sprint("commit ", i)); err != nil {
			return 0, nil, err
		}
		commit, err := runCommand(ctx, repo, "git", "rev-parse", "HEAD")
		if err != nil {
			return 0, nil, err
		}
		commits = append(commits, strings.TrimSpace(string(commit)))
	}
	return planted, commits, nil
}

// searchByTare runs tare bisect with an empty cache. commitNumber returns the number of a hash.
func (k searchKind) searchByTare(ctx context.Context, bin, tmp, repo, good string, commitNumber func(string) int) (f Found, err error) {
	if bin, err = filepath.Abs(bin); err != nil {
		return f, err
	}
	start := time.Now()
	cmd := exec.CommandContext(ctx, bin, "bisect", "--good", good, "--bad", "main", "--bench", "^BenchmarkSpin$", "--metric", k.metric, "--format", "json", "--quiet")
	cmd.Dir, cmd.Stderr = repo, os.Stderr
	cmd.Env = append(os.Environ(), "GOWORK=off", "TARE_CACHE="+filepath.Join(tmp, "cache"), "TARE_DATA="+filepath.Join(tmp, "data"))
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, errRun := cmd.Output() // a search without a single culprit also fails, but prints its document
	var doc struct {
		Found  []string
		Search struct{ Tests []json.RawMessage }
	}
	if err := json.Unmarshal(out, &doc); err != nil {
		return f, cmp.Or(errRun, err)
	}
	f.Measured, f.Seconds = len(doc.Search.Tests), math.Round(time.Since(start).Seconds())
	if len(doc.Found) == 1 {
		f.Commit = commitNumber(doc.Found[0])
	}
	return f, nil
}

// searchByGit runs git bisect run with this program, whose flag -step compares a commit with the
// good one.
func (k searchKind) searchByGit(ctx context.Context, tmp, repo, good string, commitNumber func(string) int) (f Found, err error) {
	self, err := os.Executable()
	if err != nil {
		return f, err
	}
	start := time.Now()
	log := filepath.Join(tmp, "steps")
	if _, err := runCommand(ctx, repo, "git", "checkout", "--quiet", good); err != nil {
		return f, err
	}
	if _, err := runCommand(ctx, repo, self, "-metric", k.metric, "-step", log); err != nil { // the first step measures the good commit
		return f, err
	}
	if _, err := runCommand(ctx, repo, "git", "bisect", "start", "main", good); err != nil {
		return f, err
	}
	out, err := runCommand(ctx, repo, "git", "bisect", "run", self, "-metric", k.metric, "-step", log)
	if err != nil {
		return f, err
	}
	f.Seconds = math.Round(time.Since(start).Seconds())
	steps, err := readLines(log, func(s step) uint64 { return uint64(s.N) })
	f.Measured = len(steps)
	for line := range strings.Lines(string(out)) {
		if commit, ok := strings.CutSuffix(strings.TrimSpace(line), " is the first bad commit"); ok {
			f.Commit = commitNumber(commit)
		}
	}
	return f, err
}

// step is the stored result of one step of git bisect run.
type step struct {
	N     int       `json:"n"`     // 0 for the good commit
	Times []float64 `json:"times"` // s per operation of each run
}

// bisectStep measures the commit in the working directory, adds the step to log, and compares it
// with the first step. The commit is bad if benchstat's test shows a difference and the medians
// differ by more than half of the planted effect.
func bisectStep(ctx context.Context, log string, k searchKind) (bad bool, err error) {
	steps, err := readLines(log, func(s step) uint64 { return uint64(s.N) })
	if err != nil {
		return false, err
	}
	if _, err := runCommand(ctx, ".", "go", "test", "-c", "-o", log+".test", "."); err != nil {
		return false, err
	}
	out, err := runCommand(ctx, ".", log+".test", "-test.run", "^$", "-test.bench", ".", "-test.count", fmt.Sprint(benchCount))
	if err != nil {
		return false, err
	}
	times, err := parseTimes(out)
	if err != nil {
		return false, err
	}
	s := step{N: len(steps), Times: times["Spin"]}
	if err := appendLine(log, s); err != nil || s.N == 0 {
		return false, err
	}
	p, ratio := compareBlocks(steps[0].Times, s.Times)
	return p < maxP && ratio > 1+k.effect/2, nil
}

func loadAverage() string {
	text, _ := os.ReadFile("/proc/loadavg")
	oneMinute, _, _ := strings.Cut(string(text), " ")
	return oneMinute
}
