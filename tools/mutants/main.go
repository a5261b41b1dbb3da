// Command mutants measures the strength of tests. It changes one place of a package at a time, e.g. an
// operator or a returned error. It counts the changes that the package's tests notice. make mutants builds
// it; run it at the top of the repository:
//
//	out/mutants            tests the mutants of tools/mutants/list.json
//	out/mutants -choose    chooses 200 from the seed and writes the list
//	out/mutants -accept    tests them, and has the list say which were killed
//
// The source is never written: go test -overlay compiles a changed copy. Results are stored in
// out/mutants.ndjson; an unchanged package is not tested again. It exits with 1 if a mutant survives that
// the list marks as killed.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"text/tabwriter"
)

type list struct {
	Seed     uint64   `json:"seed"`
	Each     int      `json:"each"` // number of mutants of each package
	Packages []string `json:"packages"`
	Mutants  []mutant `json:"mutants"`
	Named    []mutant `json:"named"` // patches that are written by hand
}

type options struct {
	root, list, results string // paths
	jobs                int
	only                string
	choose, accept      bool
}

// outcomeTable counts outcomes by package, for the table at the end of the output.
type outcomeTable struct {
	order  []string // rows: packages, and "named"
	counts map[string]map[outcome]int
	lost   int // mutants that were killed before and are no longer
}

func main() {
	var o options
	flag.StringVar(&o.root, "root", ".", "tree to test")
	flag.StringVar(&o.list, "list", "tools/mutants/list.json", "file of mutants")
	flag.StringVar(&o.results, "results", "out/mutants.ndjson", "results: read if they are there, and added to")
	flag.IntVar(&o.jobs, "jobs", 2, "mutants tested at a time")
	flag.StringVar(&o.only, "only", "", "only mutants whose package or name contains this")
	flag.BoolVar(&o.choose, "choose", false, "write the mutants of the list anew")
	flag.BoolVar(&o.accept, "accept", false, "write to the list which mutants are killed now")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := runCommand(ctx, os.Stdout, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func runCommand(ctx context.Context, w io.Writer, o options) (err error) {
	var l list
	src, err := os.ReadFile(o.list)
	if err == nil {
		err = json.Unmarshal(src, &l)
	}
	if err != nil {
		return fmt.Errorf("read the list: %w", err)
	}
	if o.root, err = filepath.Abs(o.root); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r, err := newRunner(o.root, dir)
	if err != nil {
		return err
	}
	if o.choose {
		if l.Mutants, err = r.chooseMutants(ctx, l.Seed, l.Packages, l.Each); err != nil {
			return err
		}
		return l.writeFile(o.list)
	}
	if err := limitMemory(8 << 30); err != nil {
		return fmt.Errorf("limit the memory of tests: %w", err)
	}
	t, err := l.runSelected(ctx, w, r, o)
	if err != nil {
		return err
	}
	t.writeText(w)
	if o.accept {
		return l.writeFile(o.list)
	}
	if t.lost > 0 {
		return fmt.Errorf("%d mutants survived that were killed before, or could not be tested", t.lost)
	}
	return nil
}

func (l *list) writeFile(path string) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(l); err != nil {
		return err
	}
	return os.WriteFile(path, text.Bytes(), 0o644)
}

// runSelected tests the mutants of the list that o selects, and records which are killed.
func (l *list) runSelected(ctx context.Context, w io.Writer, r *runner, o options) (*outcomeTable, error) {
	entries := map[string]*mutant{}
	var selected []mutant
	for _, part := range [][]mutant{l.Mutants, l.Named} {
		for i := range part {
			m := &part[i]
			entries[m.id()] = m
			if strings.Contains(m.Package+" "+m.Name, o.only) {
				selected = append(selected, *m)
			}
		}
	}
	known, err := readResults(o.results)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(o.results), 0o755); err != nil {
		return nil, err
	}
	out, err := os.OpenFile(o.results, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	t := outcomeTable{counts: map[string]map[outcome]int{}}
	tested := 0
	var writeErr error
	err = r.runAll(ctx, selected, known, o.jobs, func(m mutant, c change, res result) {
		tested++
		if _, ok := known[res.resultKey()]; !ok && res.Outcome != gone && res.Outcome != unclean {
			text, _ := json.Marshal(res)
			_, err := out.Write(append(text, '\n'))
			writeErr = errors.Join(writeErr, err)
		}
		fmt.Fprintf(w, "%3d/%d %-9s %s\n", tested, len(selected), res.Outcome, describeResult(r.root, m, c, res))
		t.addOutcome(m, res.Outcome)
		entries[m.id()].Killed = res.Outcome == killed
	})
	return &t, errors.Join(err, writeErr, out.Close())
}

func describeResult(root string, m mutant, c change, res result) string {
	text := fmt.Sprintf("%s.%s: %s", m.Package, m.Function, m.Kind)
	if m.Name != "" {
		text = m.Name
	}
	if c.file != "" {
		file, _ := filepath.Rel(root, c.file)
		text = fmt.Sprintf("%s:%d: %s", file, c.line, text)
	}
	if m.Name == "" && m.Text != "" {
		text += ": " + m.Text
		if m.New != "" {
			text += " -> " + m.New
		}
	}
	if m.Killed && res.Outcome == survived {
		text += ", which was killed before"
	}
	if res.By != "" {
		text += " [" + res.By + "]"
	}
	return fmt.Sprintf("%s (%.1f s)", text, res.Seconds)
}

func (t *outcomeTable) addOutcome(m mutant, o outcome) {
	row := m.Package
	if m.Name != "" {
		row = "named"
	}
	if t.counts[row] == nil {
		t.order, t.counts[row] = append(t.order, row), map[outcome]int{}
	}
	t.counts[row][o]++
	wasKilled := m.Killed && o == survived
	if wasKilled || o == unclean {
		t.lost++
	}
}

func (t *outcomeTable) writeText(w io.Writer) {
	columns := []outcome{killed, survived, timedOut, notBuilt, gone, unclean}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(name string, count func(outcome) int) {
		fmt.Fprint(tw, name)
		for _, c := range columns {
			fmt.Fprintf(tw, "\t%d", count(c))
		}
		fmt.Fprintln(tw)
	}
	fmt.Fprint(tw, "\npackage")
	for _, c := range columns {
		fmt.Fprint(tw, "\t", c)
	}
	fmt.Fprintln(tw)
	for _, row := range t.order {
		line(row, func(o outcome) int { return t.counts[row][o] })
	}
	line("all", func(o outcome) (n int) {
		for _, c := range t.counts {
			n += c[o]
		}
		return n
	})
	tw.Flush()
}
