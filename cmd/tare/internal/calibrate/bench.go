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

// Row is the result of one study for one benchmark.
type Row struct {
	Effects []float64  `json:"effects"` // ln(head / base) of time, per round
	Control []float64  `json:"control"` // ln(base / base)
	Low     float64    `json:"low"`     // interval of head / base, at the level of the table
	High    float64    `json:"high"`    //
	Said    string     `json:"said"`    // faster, slower or "", as in tare's table
	Allocs  [2]float64 `json:"allocs"`  // per operation of base and head if constant, else -1
	P       float64    `json:"p"`       // of the U test on the blocks
	Blocks  float64    `json:"blocks"`  // ratio of the blocks' medians; 0 if not measured
}

// BenchLine stores one study of `tare bench`.
type BenchLine struct {
	Seed      uint64         `json:"seed"`
	Seconds   float64        `json:"seconds"`
	Pressure  float64        `json:"cpu_pressure"`
	Rounds    int            `json:"rounds"`
	InBlocks  float64        `json:"block_seconds"`
	Benchmark map[string]Row `json:"benchmarks"`
}

// runBenches runs the missing studies of each experiment, a [pair] of base and head, and writes
// its table.
func runBenches(ctx context.Context, bin, dir string, table io.Writer, stderr io.Writer) error {
	for _, p := range pairs {
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

func (p pair) measureMissing(ctx context.Context, bin, path string, lines map[uint64]BenchLine, stderr io.Writer) error {
	blocks := 0 // lines with blocks
	for _, l := range lines {
		if l.InBlocks > 0 {
			blocks++
		}
	}
	if bin == "" || len(lines) >= p.studies && blocks >= p.withBlocks {
		return nil
	}
	bin, err := filepath.Abs(bin)
	if err != nil {
		return err
	}
	repo, err := p.createRepository(ctx)
	if err != nil {
		return err
	}
	defer os.RemoveAll(repo)
	for i := range uint64(p.studies) {
		seed := p.first + i
		line, kept := lines[seed]
		beside := seed < p.first+uint64(p.withBlocks) && line.InBlocks == 0
		if kept && !beside {
			continue
		}
		if !kept {
			if line, err = p.runBench(ctx, bin, repo, seed); err != nil {
				return fmt.Errorf("seed %d: %w", seed, err)
			}
		}
		if beside {
			if err := p.addBlocks(ctx, repo, &line); err != nil {
				return fmt.Errorf("seed %d: %w", seed, err)
			}
		}
		if err := appendLine(path, line); err != nil {
			return err
		}
		lines[seed] = line
		fmt.Fprintf(stderr, "%s: seed %d, %d of %d, %d rounds in %.0f s, pressure %.0f %%\n",
			p.name, seed, len(lines), p.studies, line.Rounds, line.Seconds, 100*line.Pressure)
	}
	return nil
}

// createRepository creates a git repository with the commits base and head, and builds each
// side's test binary in it.
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
		for _, args := range [][]string{
			{"git", "add", "-A"},
			{"git", "-c", "user.name=calibrate", "-c", "user.email=calibrate@example.com", "commit", "-q", "-m", side.name},
			{"go", "test", "-c", "-trimpath", "-o", side.name + ".test"},
		} {
			if _, err := runCommand(ctx, repo, args[0], args[1:]...); err != nil {
				return "", err
			}
		}
	}
	return repo, nil
}

// runBench runs `tare bench` once.
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
	l := BenchLine{Seed: seed, Seconds: r.Seconds, Pressure: r.Machine.Noise.CPUPressure, Rounds: r.RoundsDone, Benchmark: map[string]Row{}}
	for _, w := range r.Workloads {
		l.Benchmark[shortName(w.ID)] = rowOf(&r, w.ID)
	}
	return l, nil
}

// addBlocks runs blocks of go test -count and adds benchstat's test of them to l.
func (p pair) addBlocks(ctx context.Context, repo string, l *BenchLine) error {
	begin := time.Now()
	base, err := p.runBlock(ctx, repo, "base")
	if err != nil {
		return err
	}
	head, err := p.runBlock(ctx, repo, "head")
	if err != nil {
		return err
	}
	l.InBlocks = math.Round(time.Since(begin).Seconds()*10) / 10
	for id, row := range l.Benchmark {
		row.P, row.Blocks = uTest(base[id], head[id])
		l.Benchmark[id] = row
	}
	return nil
}

// runBlock runs one side's benchmarks p.blocks times.
func (p pair) runBlock(ctx context.Context, repo, side string) (map[string][]float64, error) {
	out, err := runCommand(ctx, repo, filepath.Join(repo, side+".test"), "-test.run", "^$", "-test.bench", p.bench,
		"-test.count", fmt.Sprint(p.blocks), "-test.benchtime", p.blockBenchtime.String())
	if err != nil {
		return nil, err
	}
	return parseTimes(out)
}

// rowOf returns the measurements and verdicts of one benchmark in a result.
func rowOf(r *tare.Result, id string) Row {
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
	seen := map[string][]float64{}
	for _, t := range r.Trials {
		if v, ok := t.Samples[id]["allocs_per_op"]; ok && t.Error == nil {
			seen[t.Contender] = append(seen[t.Contender], v)
		}
	}
	for i, side := range []string{"base", "head"} {
		if v, ok := constantValue(seen[side]); ok {
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
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TARE_COUNTS=off") // time is calibrated
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s%s", name, err, errs.String(), out)
	}
	return out, nil
}
