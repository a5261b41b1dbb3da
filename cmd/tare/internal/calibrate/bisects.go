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

// A search is for one commit of 32 that takes 8 % more, among others that move
// the time by up to 1 % and add code that nothing calls.
const (
	searchCommits = 32
	searchEffect  = 0.08
	searchNoise   = 0.01
	searchTurns   = 5000
	firstSearch   = 3001 // seed
	searchBlocks  = 10   // of go test -count, as benchstat is usually given them
)

// Search stores one seed: the results of tare bisect and of git bisect run
// with benchstat's test.
type Search struct {
	Seed     uint64 `json:"seed"`
	Planted  int    `json:"planted"` // number of the commit, from 1
	Tare     Found  `json:"tare"`
	Git      Found  `json:"git_bisect"`
	Pressure string `json:"load_average"` // before the search
}

// Found is the result of one search.
type Found struct {
	Commit   int     `json:"commit"` // 0 if none was found
	Measured int     `json:"measured"`
	Seconds  float64 `json:"seconds"` // builds included
}

// runSearches runs searches until there are n, and writes their table.
func runSearches(ctx context.Context, bin, dir string, n int, table, stderr io.Writer) error {
	path := filepath.Join(dir, "bisect.ndjson")
	lines, err := readLines(path, func(s Search) uint64 { return s.Seed })
	if err != nil {
		return err
	}
	for i := range uint64(n) {
		if _, ok := lines[firstSearch+i]; ok || bin == "" {
			continue
		}
		s, err := searchBoth(ctx, bin, firstSearch+i)
		if err != nil {
			return err
		}
		if err := appendLine(path, s); err != nil {
			return err
		}
		lines[s.Seed] = s
		fmt.Fprintf(stderr, "bisect: seed %d, planted %d; tare: %d by %d commits in %.0f s; git bisect: %d by %d in %.0f s\n", s.Seed, s.Planted,
			s.Tare.Commit, s.Tare.Measured, s.Tare.Seconds, s.Git.Commit, s.Git.Measured, s.Git.Seconds)
	}
	writeSearchTable(table, lines)
	return nil
}

// writeSearchTable writes how many searches of either tool were right, and their cost.
func writeSearchTable(table io.Writer, lines map[uint64]Search) {
	fmt.Fprintln(table, "| | right | named another | named none | commits measured | minutes |\n|---|---|---|---|---|---|")
	for _, way := range []struct {
		name string
		of   func(Search) Found
	}{
		{"`tare bisect`", func(s Search) Found { return s.Tare }},
		{fmt.Sprintf("`git bisect run`, `go test -count=%d` and benchstat's test", searchBlocks), func(s Search) Found { return s.Git }},
	} {
		var right, wrong, none int
		var measured, minutes []float64
		for _, s := range lines {
			f := way.of(s)
			switch f.Commit {
			case s.Planted:
				right++
			case 0:
				none++
			default:
				wrong++
			}
			measured, minutes = append(measured, float64(f.Measured)), append(minutes, f.Seconds/60)
		}
		if len(lines) > 0 {
			fmt.Fprintf(table, "| %s | %d of %d | %d | %d | %.0f (%.0f–%.0f) | %.1f (%.1f–%.1f) |\n", way.name, right, len(lines), wrong, none,
				stats.Median(measured), slices.Min(measured), slices.Max(measured), stats.Median(minutes), slices.Min(minutes), slices.Max(minutes))
		}
	}
}

// searchBoth creates the repository of a seed and searches it with both tools.
func searchBoth(ctx context.Context, bin string, seed uint64) (Search, error) {
	s := Search{Seed: seed, Pressure: loadAverage()}
	tmp, err := os.MkdirTemp("", "tare-bisects-")
	if err != nil {
		return s, err
	}
	defer os.RemoveAll(tmp)
	repo := filepath.Join(tmp, "repo")
	var commits []string
	if s.Planted, commits, err = writeHistory(ctx, repo, seed); err != nil {
		return s, err
	}
	number := func(commit string) int {
		return max(0, slices.IndexFunc(commits, func(c string) bool { return commit != "" && strings.HasPrefix(c, commit) }))
	}
	if s.Tare, err = searchByTare(ctx, bin, tmp, repo, commits[0], number); err == nil {
		s.Git, err = searchByGit(ctx, tmp, repo, commits[0], number)
	}
	return s, err
}

// writeHistory creates a repository. The first of commits is the good one.
func writeHistory(ctx context.Context, repo string, seed uint64) (planted int, commits []string, err error) {
	rng := rand.New(rand.NewPCG(seed, 8))
	planted = 1 + rng.IntN(searchCommits)
	if err := os.MkdirAll(repo, 0o755); err != nil {
		return 0, nil, err
	}
	git := func(args ...string) (string, error) {
		out, err := runCommand(ctx, repo, "git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false"}, args...)...)
		return strings.TrimSpace(string(out)), err
	}
	if _, err := git("init", "--quiet", "--initial-branch=main"); err != nil {
		return 0, nil, err
	}
	var before, after strings.Builder // code around the measured function
	for i := range searchCommits + 1 {
		turns := float64(searchTurns)
		if i > 0 {
			turns *= 1 + searchNoise*(2*rng.Float64()-1)
			into := []*strings.Builder{&before, &after}[rng.IntN(2)]
			fmt.Fprintf(into, "\n// More%d is another function.\nfunc More%[1]d(n int) (t int) {\n\tfor i := range n {\n\t\tt += i*%[2]d ^ t\n\t}\n\treturn t\n}\n", i, 3+rng.IntN(90))
		}
		if i >= planted {
			turns *= 1 + searchEffect
		}
		for name, text := range map[string]string{
			"go.mod": "module example.com/search\n\ngo 1.24\n",
			"search.go": fmt.Sprintf("// Package search takes as long as it is told to.\npackage search\n\nconst turns = %.0f\n%s\n// Spin is a chain of arithmetic.\nfunc Spin(x uint64) uint64 {\n\tfor range turns {\n\t\tx ^= x >> 33\n\t\tx *= 0xff51afd7ed558ccd\n\t}\n\treturn x\n}\n%s",
				turns, before.String(), after.String()),
			"search_test.go": "package search\n\nimport \"testing\"\n\nvar sink uint64\n\nfunc BenchmarkSpin(b *testing.B) {\n\tfor b.Loop() {\n\t\tsink = Spin(sink + 1)\n\t}\n}\n",
		} {
			if err := os.WriteFile(filepath.Join(repo, name), []byte(text), 0o644); err != nil {
				return 0, nil, err
			}
		}
		if _, err := git("add", "."); err != nil {
			return 0, nil, err
		}
		if _, err := git("commit", "--quiet", "-m", fmt.Sprint("commit ", i)); err != nil {
			return 0, nil, err
		}
		commit, err := git("rev-parse", "HEAD")
		if err != nil {
			return 0, nil, err
		}
		commits = append(commits, commit)
	}
	return planted, commits, nil
}

// searchByTare runs tare bisect with an empty cache.
func searchByTare(ctx context.Context, bin, tmp, repo, good string, number func(string) int) (f Found, err error) {
	if bin, err = filepath.Abs(bin); err != nil {
		return f, err
	}
	begin := time.Now()
	cmd := exec.CommandContext(ctx, bin, "bisect", "--good", good, "--bad", "main", "--bench", "^BenchmarkSpin$", "--format", "json", "--quiet")
	cmd.Dir, cmd.Stderr = repo, os.Stderr
	cmd.Env = append(os.Environ(), "GOWORK=off", "TARE_CACHE="+filepath.Join(tmp, "cache"), "TARE_DATA="+filepath.Join(tmp, "data"))
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, failed := cmd.Output() // exit codes 3 and 4 are results
	var doc struct {
		Found  []string
		Search struct{ Tests []json.RawMessage }
	}
	if err := json.Unmarshal(out, &doc); err != nil {
		return f, cmp.Or(failed, err)
	}
	f.Measured, f.Seconds = len(doc.Search.Tests), math.Round(time.Since(begin).Seconds())
	if len(doc.Found) == 1 {
		f.Commit = number(doc.Found[0])
	}
	return f, nil
}

// searchByGit runs git bisect run. Each step compares ten runs with ten of the good commit.
func searchByGit(ctx context.Context, tmp, repo, good string, number func(string) int) (f Found, err error) {
	self, err := os.Executable()
	if err != nil {
		return f, err
	}
	begin := time.Now()
	log := filepath.Join(tmp, "steps")
	if _, err := runCommand(ctx, repo, "git", "checkout", "--quiet", good); err != nil {
		return f, err
	}
	if _, err := runCommand(ctx, repo, self, "-step", log); err != nil { // the first step measures the good commit
		return f, err
	}
	if _, err := runCommand(ctx, repo, "git", "bisect", "start", "main", good); err != nil {
		return f, err
	}
	out, err := runCommand(ctx, repo, "git", "bisect", "run", self, "-step", log)
	if err != nil {
		return f, err
	}
	f.Seconds = math.Round(time.Since(begin).Seconds())
	steps, err := readLines(log, func(s step) uint64 { return uint64(s.N) })
	f.Measured = len(steps)
	for line := range strings.Lines(string(out)) {
		if commit, ok := strings.CutSuffix(strings.TrimSpace(line), " is the first bad commit"); ok {
			f.Commit = number(commit)
		}
	}
	return f, err
}

// step is one step of git bisect run.
type step struct {
	N     int       `json:"n"` // 0 for the good commit
	Times []float64 `json:"times"`
}

// bisectStep measures the working directory and compares it with the first step in log. It
// returns true if benchstat's test shows a difference and the medians differ by more than half
// of the planted effect.
func bisectStep(ctx context.Context, log string) (bad bool, err error) {
	steps, err := readLines(log, func(s step) uint64 { return uint64(s.N) })
	if err != nil {
		return false, err
	}
	if _, err := runCommand(ctx, ".", "go", "test", "-c", "-o", log+".test", "."); err != nil {
		return false, err
	}
	out, err := runCommand(ctx, ".", log+".test", "-test.run", "^$", "-test.bench", ".", "-test.count", fmt.Sprint(searchBlocks))
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
	p, ratio := uTest(steps[0].Times, s.Times)
	return p < 0.05 && ratio > 1+searchEffect/2, nil
}

// loadAverage returns the load average of one minute, or "" if unknown.
func loadAverage() string {
	text, _ := os.ReadFile("/proc/loadavg")
	one, _, _ := strings.Cut(string(text), " ")
	return one
}
