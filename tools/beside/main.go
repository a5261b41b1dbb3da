// Command beside prints what go test -bench measured beside what was published, both in
// the format of Go's benchmarks:
//
//	go test -bench . -benchmem | beside -published published.txt
//	beside -published published.txt 'with its tests=a.txt' 'alone=b.txt'
//
// Standard input is printed as it comes. Of a benchmark that ran several times it prints
// the medians. It fails where a run failed or has no benchmark.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/tarebench/tare/stats"
)

func main() {
	published := flag.String("published", "", "file with the published lines")
	flag.Parse()
	if err := run(*published, flag.Args(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "beside:", err)
		os.Exit(1)
	}
}

// units are the columns, in their order.
var units = []string{"ns/op", "B/op", "allocs/op"}

// figures are the values of a benchmark by unit, one of each run.
type figures map[string][]float64

// measured are the lines of one run.
type measured struct {
	label string
	names []string // without Benchmark and the number of processors, in their order
	of    map[string]figures
}

// run prints a table of the published lines and those of each file, which is written
// LABEL=FILE. Without files it reads in.
func run(published string, files []string, in io.Reader, out io.Writer) error {
	runs := []measured{{label: "published"}}
	if err := read(&runs[0], published); err != nil {
		return err
	}
	for _, arg := range files {
		label, file, ok := strings.Cut(arg, "=")
		if !ok {
			return fmt.Errorf("%q: write LABEL=FILE", arg)
		}
		m := measured{label: label}
		if err := read(&m, file); err != nil {
			return err
		}
		runs = append(runs, m)
	}
	if len(files) == 0 {
		m := measured{label: "here"}
		if err := m.scan(io.TeeReader(in, out)); err != nil {
			return err
		}
		runs = append(runs, m)
		fmt.Fprintln(out)
	}
	return table(out, runs)
}

// read takes the lines of a file.
func read(m *measured, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := m.scan(f); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// scan takes the lines of a run.
func (m *measured) scan(r io.Reader) error {
	m.of = map[string]figures{}
	failed := false
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		failed = failed || len(words) > 0 && words[0] == "FAIL"
		if len(words) < 4 || !strings.HasPrefix(words[0], "Benchmark") {
			continue
		}
		name := strings.TrimPrefix(words[0], "Benchmark")
		if at := strings.LastIndexByte(name, '-'); at > 0 {
			if _, err := strconv.Atoi(name[at+1:]); err == nil {
				name = name[:at]
			}
		}
		if m.of[name] == nil {
			m.of[name] = figures{}
			m.names = append(m.names, name)
		}
		for i := 2; i+1 < len(words); i += 2 {
			x, err := strconv.ParseFloat(words[i], 64)
			if err != nil {
				return fmt.Errorf("%q is no figure of %s", words[i], words[0])
			}
			m.of[name][words[i+1]] = append(m.of[name][words[i+1]], x)
		}
	}
	switch err := lines.Err(); {
	case err != nil:
		return err
	case failed:
		return errors.New("the run failed")
	case len(m.names) == 0:
		return errors.New("no line of a benchmark")
	}
	return nil
}

// table prints a line for each benchmark and each run that has it.
func table(out io.Writer, runs []measured) error {
	var names []string
	for _, m := range runs {
		for _, name := range m.names {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "benchmark\t\t"+strings.Join(units, "\t"))
	for _, name := range names {
		shown := name
		for _, m := range runs {
			if m.of[name] == nil || len(runs) == 2 && runs[1].of[name] == nil {
				continue
			}
			cells := []string{shown, m.label}
			for _, unit := range units {
				cell := "–"
				if xs := m.of[name][unit]; len(xs) > 0 {
					cell = strconv.FormatFloat(stats.Median(xs), 'f', -1, 64)
				}
				cells = append(cells, cell)
			}
			fmt.Fprintln(w, strings.Join(cells, "\t"))
			shown = ""
		}
	}
	return w.Flush()
}
