// Command calibrate measures programs whose true ratio is known, many times, and counts how often
// tare is right. It does so for `tare run`, `tare bench`, counts of instructions and, with
// -bisects, `tare bisect`. It stores the measurements next to the studies, one line per seed, and
// replaces the tables of documents. It resumes where it stopped: no seed is measured twice.
//
//	go run ./cmd/tare/internal/calibrate -tare ./out/tare
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

const (
	studies = 60 // per base
	rounds  = 40 // per study
)

// bases are the studies of `tare run`, by the name of their file, with their first seed.
var bases = []struct {
	name  string
	first uint64
}{{"spin", 1001}, {"alloc", 2001}}

// Line is the stored result of one study of `tare run`.
type Line struct {
	Seed     uint64               `json:"seed"`
	Seconds  float64              `json:"seconds"`
	Pressure float64              `json:"cpu_pressure"` // share of the time in which a thread waited for a processor
	Effects  map[string][]float64 `json:"effects"`      // ln(time / time of the base) of each round, by contender
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "calibrate:", err)
		isStep := slices.Contains(os.Args[1:], "-step")
		if isStep && !errors.Is(err, errBadCommit) {
			os.Exit(128) // git bisect run stops
		}
		os.Exit(1) // in a step: the commit is bad
	}
}

// errBadCommit is the result of a step of git bisect run for a bad commit.
var errBadCommit = errors.New("this commit takes more")

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("calibrate", flag.ContinueOnError)
	bin := flags.String("tare", "", "the tare program; empty: only read what was measured")
	dir := flags.String("dir", "docs/calibration", "directory of the studies and of what was measured")
	method := flags.String("method", "docs/calibration/README.md", "document whose calibration table is replaced; empty: none")
	onlyCounts := flags.Bool("counts", false, "measure only what counts instructions")
	searches := flags.Int("bisects", 0, "searches of tare bisect and git bisect run, to have been made; nothing else is measured")
	metric := flags.String("metric", "time", "metric of the searches: time, or instructions")
	page := flags.String("bisect-page", "docs/bisect.md", "document whose table of searches is replaced; empty: none")
	log := flags.String("step", "", "a step of git bisect run, which keeps its times in that file")
	if err := flags.Parse(args); err != nil {
		return err
	}
	kind, ok := searchKinds[*metric]
	if !ok {
		return fmt.Errorf("-metric %s: time and instructions can be searched", *metric)
	}
	switch {
	case *log != "":
		bad, err := bisectStep(ctx, *log, kind)
		if bad {
			err = errBadCommit
		}
		return err
	case *searches > 0:
		var found strings.Builder
		if err := kind.runSearches(ctx, *bin, *dir, *searches, &found, stderr); err != nil {
			return err
		}
		fmt.Fprint(stdout, found.String())
		if *page == "" {
			return nil
		}
		return replaceTable(*page, kind.file, found.String())
	}
	timed := *bin // the program for studies of time
	if *onlyCounts {
		timed = ""
	}
	var table strings.Builder
	if err := runBases(ctx, timed, *dir, &table, stderr); err != nil {
		return err
	}
	var benchTable strings.Builder
	if err := runBenches(ctx, timed, *dir, &benchTable, stderr); err != nil {
		return err
	}
	var moduleTable strings.Builder
	if err := runModules(ctx, *bin, *dir, &moduleTable, stderr); err != nil {
		return err
	}
	var countTable strings.Builder
	if err := runCounts(ctx, *bin, *dir, &countTable, stderr); err != nil {
		return err
	}
	for _, t := range []struct {
		name string
		text *strings.Builder
	}{
		{"calibration", &table}, {"calibration-bench", &benchTable}, {"calibration-counts", &countTable}, {"calibration-modules", &moduleTable},
	} {
		fmt.Fprint(stdout, t.text.String())
		if *method == "" {
			continue
		}
		if err := replaceTable(*method, t.name, t.text.String()); err != nil {
			return err
		}
	}
	return nil
}

// runBases runs the missing studies of `tare run` and writes their tables. It runs none if bin is "".
func runBases(ctx context.Context, bin, dir string, table, stderr io.Writer) error {
	for _, b := range bases {
		path := filepath.Join(dir, b.name+".ndjson")
		lines, err := readLines(path, func(l Line) uint64 { return l.Seed })
		if err != nil {
			return err
		}
		if bin != "" {
			measure := func(seed uint64) (Line, error) {
				return runStudy(ctx, bin, filepath.Join(dir, b.name+".yaml"), seed)
			}
			err := addMissing(path, lines, b.first, studies, measure, func(l Line) {
				fmt.Fprintf(stderr, "%s: seed %d, %d of %d, %.0f s, pressure %.0f %%\n", b.name, l.Seed, len(lines), studies, l.Seconds, 100*l.Pressure)
			})
			if err != nil {
				return err
			}
		}
		writeBaseTable(table, b.name, lines)
	}
	return nil
}

func runStudy(ctx context.Context, bin, study string, seed uint64) (Line, error) {
	cmd := exec.CommandContext(ctx, bin, "run", study, "--rounds", fmt.Sprint(rounds), "--seed", fmt.Sprint(seed), "--json", "--quiet")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return Line{}, fmt.Errorf("%s: %w", study, err)
	}
	var r tare.Result
	if err := json.Unmarshal(out, &r); err != nil {
		return Line{}, fmt.Errorf("%s: %w", study, err)
	}
	l := Line{Seed: seed, Seconds: r.Seconds, Pressure: r.Machine.Noise.CPUPressure, Effects: map[string][]float64{}}
	base := cmp.Or(r.Baseline(), r.Plan.Contenders[0])
	for _, e := range r.Rounds {
		if e.A == base {
			e = e.Turned() // e.B is base
		}
		if e.Metric == "time" && e.B == base {
			l.Effects[e.A] = roundAll(e.Effects)
		}
	}
	for id, x := range l.Effects {
		if len(x) != rounds {
			return Line{}, fmt.Errorf("%s: %d rounds of %s, want %d", study, len(x), id, rounds)
		}
	}
	return l, nil
}

// readLines reads the lines stored at path, by their seed. The map is empty if there is no file.
func readLines[L any](path string, seed func(L) uint64) (map[uint64]L, error) {
	lines := map[uint64]L{}
	src, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return lines, nil
	}
	if err != nil {
		return nil, err
	}
	for i, row := range bytes.Split(bytes.TrimSpace(src), []byte("\n")) {
		var l L
		if err := json.Unmarshal(row, &l); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, i+1, err)
		}
		lines[seed(l)] = l
	}
	return lines, nil
}

// addMissing measures the seeds that lines lacks, of n from first on. It adds them to lines and to
// the file at path.
func addMissing[L any](path string, lines map[uint64]L, first uint64, n int, measure func(seed uint64) (L, error), report func(L)) error {
	for seed := first; seed < first+uint64(n); seed++ {
		if _, isStored := lines[seed]; isStored {
			continue
		}
		line, err := measure(seed)
		if err != nil {
			return fmt.Errorf("seed %d: %w", seed, err)
		}
		if err := appendLine(path, line); err != nil {
			return err
		}
		lines[seed] = line
		report(line)
	}
	return nil
}

// roundAll returns the values rounded to six decimals.
func roundAll(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = math.Round(v*1e6) / 1e6
	}
	return out
}

func appendLine[L any](path string, l L) error {
	row, err := json.Marshal(l)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err := f.Write(append(row, '\n')); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// replaceTable replaces the text between the markers name in the document at path.
func replaceTable(path, name, table string) error {
	begin, end := "<!-- "+name+":begin -->", "<!-- "+name+":end -->"
	src, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	head, rest, hasBegin := strings.Cut(string(src), begin)
	_, tail, hasEnd := strings.Cut(rest, end)
	if !hasBegin || !hasEnd {
		return fmt.Errorf("%s: no %s markers", path, name)
	}
	return os.WriteFile(path, []byte(head+begin+"\n"+table+end+tail), 0o644)
}
