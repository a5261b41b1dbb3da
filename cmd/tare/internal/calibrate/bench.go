package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/tarebench/tare"
)

// This file calibrates tare bench. It compares pairs of revisions whose true ratio is known, with
// many seeds.

// Row is the result of one study for one benchmark.
type Row struct {
	Effects []float64  `json:"effects"` // ln(head / base) of the time of each round
	Control []float64  `json:"control"` // the same of the control, base once more
	Low     float64    `json:"low"`     // interval of head / base; 0 if unbounded
	High    float64    `json:"high"`
	Said    string     `json:"said"`   // faster, slower or ""
	Allocs  [2]float64 `json:"allocs"` // per operation of base and head; -1 if not constant
	P       float64    `json:"p"`      // p value of the U test; 0 without blocks
	Blocks  float64    `json:"blocks"` // ratio of the medians; 0 without blocks
}

// BenchLine is the stored result of one study of `tare bench`. A block is go test -count for one
// side, as users of benchstat run it.
type BenchLine struct {
	Seed      uint64         `json:"seed"`
	Seconds   float64        `json:"seconds"`
	Pressure  float64        `json:"cpu_pressure"` // see Line
	Rounds    int            `json:"rounds"`
	InBlocks  float64        `json:"block_seconds"` // duration in s; 0 without blocks
	Benchmark map[string]Row `json:"benchmarks"`    // by short name
}

// runBenches runs the missing studies of each experiment and writes its table.
func runBenches(ctx context.Context, bin, dir string, table io.Writer, stderr io.Writer) error {
	for _, p := range pairs {
		if p.studies == 0 {
			continue
		}
		path := filepath.Join(dir, p.name+".ndjson")
		lines, err := readLines(path, func(l BenchLine) uint64 { return l.Seed })
		if err != nil {
			return err
		}
		if err := p.measureMissing(ctx, bin, path, lines, stderr); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		p.writeTable(table, lines)
	}
	return nil
}

// measureMissing runs the studies and blocks that lines lacks, and adds them to lines and to the
// file at path. It runs nothing if bin is "".
func (p pair) measureMissing(ctx context.Context, bin, path string, lines map[uint64]BenchLine, stderr io.Writer) error {
	withBlocks := 0
	for _, l := range lines {
		if l.InBlocks > 0 {
			withBlocks++
		}
	}
	isComplete := len(lines) >= p.studies && withBlocks >= p.withBlocks
	if bin == "" || isComplete {
		return nil
	}
	partial := map[uint64]BenchLine{} // stored studies that lack only their blocks
	needsBlocks := func(seed uint64) bool { return seed < p.first+uint64(p.withBlocks) }
	for seed, l := range lines {
		if needsBlocks(seed) && l.InBlocks == 0 {
			partial[seed] = l
			delete(lines, seed)
		}
	}
	return p.withRepository(ctx, bin, func(bin, repo string) error {
		measure := func(seed uint64) (line BenchLine, err error) {
			line, isStored := partial[seed]
			if !isStored {
				line, err = p.runBench(ctx, bin, repo, seed)
			}
			if err == nil && needsBlocks(seed) {
				err = p.addBlocks(ctx, repo, &line)
			}
			return line, err
		}
		return addMissing(path, lines, p.first, p.studies, measure, func(l BenchLine) {
			fmt.Fprintf(stderr, "%s: seed %d, %d of %d, %d rounds in %.0f s, pressure %.0f %%\n", p.name, l.Seed, len(lines), p.studies, l.Rounds, l.Seconds, 100*l.Pressure)
		})
	})
}

func (p pair) withRepository(ctx context.Context, bin string, use func(bin, repo string) error) error {
	bin, err := filepath.Abs(bin)
	if err != nil {
		return err
	}
	repo, err := p.createRepository(ctx)
	if err != nil {
		return err
	}
	defer os.RemoveAll(repo)
	return use(bin, repo)
}

// createRepository creates a git repository with the commits base and head, and builds their test
// binaries. The caller removes it.
func (p pair) createRepository(ctx context.Context) (repo string, err error) {
	if repo, err = os.MkdirTemp("", "calibrate-*"); err != nil {
		return "", err
	}
	write := func(name, text string) error { return os.WriteFile(filepath.Join(repo, name), []byte(text), 0o600) }
	base, head, tests, err := p.readSources()
	if err != nil {
		return "", err
	}
	if err := write("work_test.go", tests); err != nil {
		return "", err
	}
	if err := write("go.mod", "module example.com/work\n\ngo 1.25.0\n"); err != nil {
		return "", err
	}
	if err := write(".gitignore", "*.test\n"); err != nil {
		return "", err
	}
	if _, err := runCommand(ctx, repo, "git", "init", "-q"); err != nil {
		return "", err
	}
	for _, side := range []struct{ name, source string }{{"base", base}, {"head", head}} {
		if err := write("work.go", side.source); err != nil {
			return "", err
		}
		if err := commitAll(ctx, repo, side.name); err != nil {
			return "", err
		}
		if _, err := runCommand(ctx, repo, "go", "test", "-c", "-trimpath", "-o", side.name+".test"); err != nil {
			return "", err
		}
	}
	return repo, nil
}

func commitAll(ctx context.Context, repo, message string) error {
	if _, err := runCommand(ctx, repo, "git", "add", "-A"); err != nil {
		return err
	}
	_, err := runCommand(ctx, repo, "git", "-c", "user.name=calibrate", "-c", "user.email=calibrate@example.com", "-c", "commit.gpgsign=false", "commit", "-q", "-m", message)
	return err
}

func (p pair) runBench(ctx context.Context, bin, repo string, seed uint64) (BenchLine, error) {
	out, err := runCommand(ctx, repo, bin, "bench", "--base", "HEAD~1", "--head", "HEAD", "--bench", p.bench,
		"--budget", p.budget, "--seed", fmt.Sprint(seed), "--format", "json", "--quiet")
	if err != nil {
		return BenchLine{}, err
	}
	var r tare.Result
	if err := json.Unmarshal(out, &r); err != nil {
		return BenchLine{}, err
	}
	l := BenchLine{
		Seed:      seed,
		Seconds:   r.Seconds,
		Pressure:  r.Machine.Noise.CPUPressure,
		Rounds:    r.RoundsDone,
		Benchmark: map[string]Row{},
	}
	for _, w := range r.Workloads {
		l.Benchmark[shortName(w.ID)] = newRow(&r, w.ID)
	}
	return l, nil
}

func (p pair) addBlocks(ctx context.Context, repo string, l *BenchLine) error {
	start := time.Now()
	base, err := p.runBlock(ctx, repo, "base")
	if err != nil {
		return err
	}
	head, err := p.runBlock(ctx, repo, "head")
	if err != nil {
		return err
	}
	l.InBlocks = math.Round(time.Since(start).Seconds()*10) / 10 // to 0.1 s
	for id, row := range l.Benchmark {
		row.P, row.Blocks = compareBlocks(base[id], head[id])
		l.Benchmark[id] = row
	}
	return nil
}

func (p pair) runBlock(ctx context.Context, repo, side string) (map[string][]float64, error) {
	out, err := runCommand(ctx, repo, filepath.Join(repo, side+".test"), "-test.run", "^$", "-test.bench", p.bench,
		"-test.count", fmt.Sprint(p.blocks), "-test.benchtime", p.blockBenchtime.String())
	if err != nil {
		return nil, err
	}
	return parseTimes(out)
}

func newRow(r *tare.Result, id string) Row {
	row := Row{Allocs: [2]float64{-1, -1}}
	head, _ := tare.EffectsOf(r.Rounds, id, "time", "head", "base")
	control, _ := tare.EffectsOf(r.Rounds, id, "time", tare.ControlID, "base")
	row.Effects, row.Control = roundAll(head.Effects), roundAll(control.Effects)
	for _, c := range r.Comparisons {
		if c.Workload != id || c.Metric != "time" || c.Contender != "head" || !c.Bounded() {
			continue
		}
		row.Low, row.High = c.Low, c.High
		if c.Differs(tare.NoiseFloor(r.Comparisons, id, "time")) == tare.Significant {
			row.Said = "faster"
			if c.Ratio > 1 {
				row.Said = "slower"
			}
		}
	}
	allocs := map[string][]float64{} // by contender
	for _, t := range r.Trials {
		if v, ok := t.Samples[id]["allocs_per_op"]; ok && t.Error == nil {
			allocs[t.Contender] = append(allocs[t.Contender], v)
		}
	}
	for i, side := range []string{"base", "head"} {
		if v, ok := constantValue(allocs[side]); ok {
			row.Allocs[i] = v
		}
	}
	return row
}

func constantValue(values []float64) (float64, bool) {
	for _, v := range values {
		if v != values[0] {
			return 0, false
		}
	}
	if len(values) == 0 {
		return 0, false
	}
	return values[0], true
}

// shortName returns a benchmark's name without its package and the word Benchmark.
func shortName(id string) string {
	return strings.TrimPrefix(id[strings.LastIndexByte(id, '.')+1:], "Benchmark")
}

// runCommand runs a program in dir and returns its stdout. The error contains its output.
func runCommand(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TARE_COUNTS=off") // times are calibrated without counts
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s%s", name, err, errs.String(), out)
	}
	return out, nil
}
