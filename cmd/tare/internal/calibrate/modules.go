package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/stats"
)

// This file counts public modules against themselves. Each reported difference is a false one.

// publicModules are modules whose benchmarks are counted on two equal sides.
var publicModules = []string{
	"github.com/BurntSushi/toml@v1.5.0",
	"github.com/Masterminds/semver/v3@v3.3.1",
	"github.com/bits-and-blooms/bitset@v1.22.0",
	"github.com/kelindar/bitmap@v1.5.3",
	"github.com/gammazero/deque@v1.0.0",
	"github.com/cespare/mph@v0.1.0",
	"github.com/mattn/go-runewidth@v0.0.16",
	"github.com/rivo/uniseg@v0.4.7",
	"github.com/valyala/fasttemplate@v1.2.2",
	"github.com/twmb/murmur3@v1.1.8",
}

const (
	firstModule = 901 // seed of the first of publicModules
	idleModules = 3   // number of modules that are also counted on an idle machine
)

// ModuleLine is the stored result of the counts of one module against itself.
type ModuleLine struct {
	Seed       uint64              `json:"seed"`
	Module     string              `json:"module"`
	Seconds    float64             `json:"seconds"`      // counting, without builds
	Pressure   float64             `json:"cpu_pressure"` // see Line
	Counter    string              `json:"counter"`
	NotCounted int                 `json:"not_counted"` // benchmarks that are only timed
	Benchmark  map[string]CountRow `json:"benchmarks"`  // by ID
}

// runModules counts the modules that have no stored line, and writes the table. Some are counted on
// an idle machine, then all on a busy one.
func runModules(ctx context.Context, bin, dir string, table, stderr io.Writer) error {
	fmt.Fprint(table, "\n| module | the processors | benchmarks counted | not counted | reported as different | furthest from equal | seconds a benchmark |\n|---|---|---|---|---|---|---|\n")
	counted, wrong := 0, []string{}
	for _, load := range []struct {
		name    string
		busy    bool
		modules []string
	}{{"idle", false, publicModules[:idleModules]}, {"busy", true, publicModules}} {
		path := filepath.Join(dir, "modules-"+load.name+".ndjson")
		lines, err := readLines(path, func(l ModuleLine) uint64 { return l.Seed })
		if err != nil {
			return err
		}
		if bin != "" {
			if err := countModules(ctx, bin, path, load.modules, load.busy, lines, stderr); err != nil {
				return err
			}
		}
		for _, seed := range slices.Sorted(maps.Keys(lines)) {
			l := lines[seed]
			l.writeRow(table, load.name)
			counted += len(l.Benchmark)
			wrong = append(wrong, l.wrongRows()...)
		}
	}
	if counted == 0 {
		fmt.Fprintln(table, "| not counted yet; run `make calibrate-counts` | | | | | | |")
		return nil
	}
	fmt.Fprintf(table, "\nReported as different: %d of %d rows.\n", len(wrong), counted)
	for _, row := range wrong {
		fmt.Fprintf(table, "\n- %s\n", row)
	}
	return nil
}

// countModules counts the modules that lines lacks, and adds them to lines and to the file at path.
func countModules(ctx context.Context, bin, path string, modules []string, busy bool, lines map[uint64]ModuleLine, stderr io.Writer) error {
	bin, err := filepath.Abs(bin)
	if err != nil {
		return err
	}
	if busy {
		defer keepBusy()()
	}
	measure := func(seed uint64) (ModuleLine, error) {
		return countModule(ctx, bin, modules[seed-firstModule], seed)
	}
	return addMissing(path, lines, firstModule, len(modules), measure, func(l ModuleLine) {
		fmt.Fprintf(stderr, "%s: %d counted, %d not, %d reported as different, %.0f s, pressure %.0f %%\n", l.Module, len(l.Benchmark), l.NotCounted, len(l.wrongRows()), l.Seconds, 100*l.Pressure)
	})
}

// countModule counts the benchmarks of path@version on two commits that differ in a text file only.
// Each count is of a binary with another order of functions.
func countModule(ctx context.Context, bin, module string, seed uint64) (ModuleLine, error) {
	repo, err := os.MkdirTemp("", "calibrate-*")
	if err != nil {
		return ModuleLine{}, err
	}
	defer os.RemoveAll(repo)
	if err := copyModule(ctx, module, repo); err != nil {
		return ModuleLine{}, err
	}
	cmd := exec.CommandContext(ctx, bin, "bench", "--base", "HEAD~1", "--head", "HEAD", "--rounds", "1", "--max", "0",
		"--counts", "valgrind", "--seed", fmt.Sprint(seed), "--format", "json", "--progress", "ndjson")
	cmd.Dir, cmd.Env = repo, append(os.Environ(), "GOWORK=off")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	var progress strings.Builder
	cmd.Stderr = &progress
	out, err := cmd.Output()
	if err != nil {
		return ModuleLine{}, fmt.Errorf("%s: %w\n%s", module, err, progress.String())
	}
	var r tare.Result
	if err := json.Unmarshal(out, &r); err != nil {
		return ModuleLine{}, err
	}
	if err := checkCounted(&r); err != nil {
		return ModuleLine{}, fmt.Errorf("%s: %w", module, err)
	}
	l := ModuleLine{Seed: seed, Module: module, Seconds: countingTime(progress.String()), Pressure: r.Machine.Noise.CPUPressure, Counter: r.Counter.String(), Benchmark: map[string]CountRow{}}
	for _, f := range r.Findings {
		if f.Check == "not-counted" {
			l.NotCounted++
		}
	}
	for _, c := range r.Comparisons {
		if c.Metric == tare.MetricInstructions {
			l.Benchmark[c.Workload] = newCountRow(c)
		}
	}
	return l, nil
}

// copyModule downloads a module, path@version, and makes a repository of it with two commits.
func copyModule(ctx context.Context, module, repo string) error {
	out, err := runCommand(ctx, repo, "go", "mod", "download", "-json", module)
	if err != nil {
		return err
	}
	var downloaded struct{ Dir string }
	if err := json.Unmarshal(out, &downloaded); err != nil {
		return err
	}
	if err := os.CopyFS(repo, os.DirFS(downloaded.Dir)); err != nil {
		return err
	}
	if _, err := runCommand(ctx, repo, "go", "mod", "tidy"); err != nil {
		return err
	}
	if _, err := runCommand(ctx, repo, "git", "init", "-q"); err != nil {
		return err
	}
	if err := commitAll(ctx, repo, "base"); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(repo, "calibrate.txt"), []byte("head\n"), 0o600); err != nil {
		return err
	}
	return commitAll(ctx, repo, "head")
}

// countingTime returns the seconds between the first and the last line about counts in the output
// of --progress ndjson.
func countingTime(progress string) float64 {
	var first, last float64
	for line := range strings.Lines(progress) {
		var e struct {
			Seconds float64
			Text    string
		}
		if json.Unmarshal([]byte(line), &e) != nil || !strings.Contains(e.Text, "counting instructions") {
			continue
		}
		if first == 0 {
			first = e.Seconds
		}
		last = e.Seconds
	}
	return math.Round((last-first)*10) / 10
}

func (l ModuleLine) wrongRows() (rows []string) {
	for id, row := range l.Benchmark {
		if row.isDifferent() {
			rows = append(rows, fmt.Sprintf("%s: %.1f more than %.0f instructions, %+.2f %%", id, row.Base*(row.Ratio-1), row.Base, 100*(row.Ratio-1)))
		}
	}
	slices.Sort(rows)
	return rows
}

func (l ModuleLine) writeRow(table io.Writer, load string) {
	var distances []float64
	for _, row := range l.Benchmark {
		distances = append(distances, math.Abs(row.Ratio-1))
	}
	if len(distances) == 0 {
		return
	}
	fmt.Fprintf(table, "| %s | %s | %d | %d | %d | %.2f %%, median %.3f %% | %.2f |\n", l.Module, load, len(l.Benchmark), l.NotCounted, len(l.wrongRows()),
		100*slices.Max(distances), 100*stats.Median(distances), l.Seconds/float64(len(l.Benchmark)))
}
