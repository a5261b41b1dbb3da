// Command beside prints output of go test -bench next to published lines, both in
// the format of Go's benchmarks:
//
//	go test -bench . -benchmem | beside -published published.txt
//	beside -published published.txt 'with its tests=a.txt' 'alone=b.txt'
//
// Without files it reads the output from standard input, and also prints it unchanged. If a
// benchmark ran several times, the table has the medians. The command fails if a run failed or
// has no benchmark.
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
	if err := printTables(*published, flag.Args(), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "beside:", err)
		os.Exit(1)
	}
}

// units lists the units of the columns in their order.
var units = []string{"ns/op", "B/op", "allocs/op"}

// unitValues holds the values of a benchmark by unit, one per run.
type unitValues map[string][]float64

// benchRun has the values of one run of benchmarks.
type benchRun struct {
	label  string
	names  []string // of benchmarks in their order, without "Benchmark" and the number of processors
	values map[string]unitValues
}

// printTables prints a table that has the published lines next to the lines of each of files, which
// have the form LABEL=FILE. If there are no files, the table has the lines of in, which are also copied
// to out.
func printTables(published string, files []string, in io.Reader, out io.Writer) error {
	runs := []benchRun{{label: "published"}}
	if err := readFile(&runs[0], published); err != nil {
		return err
	}
	for _, arg := range files {
		label, file, ok := strings.Cut(arg, "=")
		if !ok {
			return fmt.Errorf("%q: write LABEL=FILE", arg)
		}
		m := benchRun{label: label}
		if err := readFile(&m, file); err != nil {
			return err
		}
		runs = append(runs, m)
	}
	if len(files) == 0 {
		m := benchRun{label: "here"}
		if err := m.scanLines(io.TeeReader(in, out)); err != nil {
			return err
		}
		runs = append(runs, m)
		fmt.Fprintln(out)
	}
	return writeTable(out, runs)
}

// readFile reads the lines of a file into m.
func readFile(m *benchRun, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := m.scanLines(f); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// scanLines reads the output of a run into m.
func (m *benchRun) scanLines(r io.Reader) error {
	m.values = map[string]unitValues{}
	failed := false
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		failed = failed || len(words) > 0 && words[0] == "FAIL"
		if len(words) < 4 || !strings.HasPrefix(words[0], "Benchmark") {
			continue
		}
		name := strings.TrimPrefix(words[0], "Benchmark")
		if dash := strings.LastIndexByte(name, '-'); dash > 0 { // the number of processors, as in Encode-8
			if _, err := strconv.Atoi(name[dash+1:]); err == nil {
				name = name[:dash]
			}
		}
		if m.values[name] == nil {
			m.values[name] = unitValues{}
			m.names = append(m.names, name)
		}
		for i := 2; i+1 < len(words); i += 2 { // pairs of a value and its unit
			x, err := strconv.ParseFloat(words[i], 64)
			if err != nil {
				return fmt.Errorf("%q is no figure of %s", words[i], words[0])
			}
			m.values[name][words[i+1]] = append(m.values[name][words[i+1]], x)
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

// writeTable prints a line for each benchmark and each run that has it. With two runs it prints only the
// benchmarks of the second one.
func writeTable(out io.Writer, runs []benchRun) error {
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
		title := name // only on the first line of a benchmark
		for _, m := range runs {
			isOnlyPublished := len(runs) == 2 && runs[1].values[name] == nil
			if m.values[name] == nil || isOnlyPublished {
				continue
			}
			cells := []string{title, m.label}
			for _, unit := range units {
				cell := "–"
				if xs := m.values[name][unit]; len(xs) > 0 {
					cell = strconv.FormatFloat(stats.Median(xs), 'f', -1, 64)
				}
				cells = append(cells, cell)
			}
			fmt.Fprintln(w, strings.Join(cells, "\t"))
			title = ""
		}
	}
	return w.Flush()
}
