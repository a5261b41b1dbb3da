package main

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

// table has the highest permitted counts by package. figures.csv has a row per package. A count may fall, but not
// rise.
type table map[string]figures

type column struct {
	name  string
	value *int
}

// listColumns returns the columns, with pointers to the fields of f.
func (f *figures) listColumns() []column {
	return []column{
		{"functions", &f.functions}, {"one_word", &f.oneWord}, {"participles", &f.participles}, {"adverbs", &f.adverbs},
		{"definitions", &f.definitions}, {"words", &f.words}, {"private_words", &f.privateWords},
	}
}

// readTable reads the table at path, or returns nil if there is no file.
func readTable(path string) (table, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	t := table{}
	for i, row := range rows[min(1, len(rows)):] {
		var f figures
		columns := f.listColumns()
		if len(row) != len(columns)+1 {
			return nil, fmt.Errorf("%s:%d: %d columns, not %d", path, i+2, len(row), len(columns)+1)
		}
		for k, c := range columns {
			if *c.value, err = strconv.Atoi(row[k+1]); err != nil || *c.value < 0 {
				return nil, fmt.Errorf("%s:%d: %s %q is not a count", path, i+2, c.name, row[k+1])
			}
		}
		t[row[0]] = f
	}
	return t, nil
}

func writeTable(path string, t table) error {
	var out strings.Builder
	out.WriteString("package")
	for _, c := range new(figures).listColumns() {
		out.WriteString("," + c.name)
	}
	for _, name := range slices.Sorted(maps.Keys(t)) {
		f := t[name]
		out.WriteString("\n" + name)
		for _, c := range f.listColumns() {
			fmt.Fprintf(&out, ",%d", *c.value)
		}
	}
	return os.WriteFile(path, []byte(out.String()+"\n"), 0o644)
}

// Goals of a new package.
const (
	maxOneWord      = 0.33   // share of private functions
	maxPrivateWords = 0.0025 // share of words
	freeOneWord     = 2      // functions that any package may have
	freeWords       = 1      // words that any package may have
)

// goalsFor returns the highest permitted counts of a new package. f has its present counts.
func goalsFor(f figures) figures {
	return figures{
		functions:    f.functions,
		oneWord:      max(freeOneWord, int(maxOneWord*float64(f.functions))),
		words:        f.words,
		privateWords: max(freeWords, int(maxPrivateWords*float64(f.words))),
	}
}

// isRise reports whether a count and its share have both risen. A growing package may raise the count. Losing
// functions with plain names may raise the share.
func isRise(before, totalBefore, now, totalNow int) bool {
	return now > before && share(now, totalNow) > share(before, totalBefore)
}

func findRises(base, f figures) (names []string) {
	if isRise(base.oneWord, base.functions, f.oneWord, f.functions) {
		names = append(names, "one_word")
	}
	for _, c := range []struct {
		name        string
		before, now int
	}{
		{"participles", base.participles, f.participles},
		{"adverbs", base.adverbs, f.adverbs},
		{"definitions", base.definitions, f.definitions},
	} {
		if c.now > c.before {
			names = append(names, c.name)
		}
	}
	if isRise(base.privateWords, base.words, f.privateWords, f.words) {
		names = append(names, "private_words")
	}
	return names
}

// maxPlaces limits the places in a message.
const maxPlaces = 20

// compareAll returns a sentence for each figure that has risen, with its places.
func compareAll(known table, packages map[string]measured) (rises []string) {
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		p := packages[name]
		base, ok := known[name]
		if !ok {
			base = goalsFor(p.figures)
		}
		before, now := listCounts(base), listCounts(p.figures)
		for _, figure := range findRises(base, p.figures) {
			text := fmt.Sprintf("%s: %s rose from %d to %d:", name, figure, before[figure], now[figure])
			if !ok {
				text = fmt.Sprintf("%s: %s of a new package is %d, at most %d:", name, figure, now[figure], before[figure])
			}
			places := p.places[figure]
			if more := len(places) - maxPlaces; more > 0 {
				places = append(places[:maxPlaces:maxPlaces], fmt.Sprintf("and %d more", more))
			}
			rises = append(rises, text+"\n  "+strings.Join(places, "\n  "))
		}
	}
	return rises
}

func listCounts(f figures) map[string]int {
	counts := map[string]int{}
	for _, c := range f.listColumns() {
		counts[c.name] = *c.value
	}
	return counts
}

func newTable(packages map[string]measured) table {
	t := table{}
	for name, p := range packages {
		t[name] = p.figures
	}
	return t
}

// lowerTable returns the table with figures that fell. A package with a risen figure keeps its line of known, if
// any.
func lowerTable(known table, packages map[string]measured) table {
	t := table{}
	for name, p := range packages {
		base, ok := known[name]
		if !ok {
			base = goalsFor(p.figures)
		}
		switch {
		case len(findRises(base, p.figures)) == 0:
			t[name] = p.figures
		case ok:
			t[name] = base
		}
	}
	return t
}
