package profile

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/tarebench/tare"
)

// This file compares the profiles of two programs, function by function. For example, "scan takes
// 120 ns per operation in one and 90 ns in the other".

// Side is one of two compared programs.
type Side struct {
	Name    string
	Profile *Profile
	Ops     int64 // operations during the profile
}

// Gap is the difference between two programs. All lists are sorted, the largest difference first.
type Gap struct {
	From, To         string       // names of the programs
	Unit             string       // nanoseconds or bytes, per operation
	Parts            []Difference // all packages and parts of the runtime; their sum is Whole
	SignificantParts []Difference // parts beyond the sampling error
	Functions        []Difference // functions beyond the sampling error; with Rest, their sum is Whole
	Rest             Difference   // the name contains their number
	Whole            Difference
}

// Difference has the values per operation of one function or part. Called functions are not
// included.
type Difference struct {
	Name     string  // name of the function or part
	From, To float64 // first and second program
}

// Change returns To minus From.
func (d Difference) Change() float64 { return d.To - d.From }

// Compare returns the difference between two programs, with at most n functions. Functions whose
// difference may be a sampling error are in Rest.
func Compare(first, second Side, n int) (Gap, error) {
	switch {
	case first.Profile == nil || second.Profile == nil || first.Ops <= 0 || second.Ops <= 0:
		return Gap{}, errors.New("a gap needs two profiles and the operations that were done meanwhile")
	case first.Profile.Kind != second.Profile.Kind:
		return Gap{}, fmt.Errorf("a profile of %s and one of %s have no gap", first.Profile.Kind, second.Profile.Kind)
	}
	g := Gap{From: first.Name, To: second.Name, Unit: first.Profile.Unit, Whole: Difference{Name: "all"}}
	functions, parts := map[string]Difference{}, map[string]Difference{}
	addTo := func(sums map[string]Difference, name string, fromValue, toValue float64) {
		sums[name] = Difference{Name: name, From: sums[name].From + fromValue, To: sums[name].To + toValue}
	}
	add := func(s stack, fromValue, toValue float64) { // values per operation
		addTo(functions, s.frames[len(s.frames)-1], fromValue, toValue)
		addTo(parts, partOf(s), fromValue, toValue)
		g.Whole.From += fromValue
		g.Whole.To += toValue
	}
	for _, s := range first.Profile.stacks {
		add(s, s.value/float64(first.Ops), 0)
	}
	for _, s := range second.Profile.stacks {
		add(s, 0, s.value/float64(second.Ops))
	}
	g.Parts = sortByDifference(parts)
	for _, l := range g.Parts {
		if exceedsSampling(l, first, second) {
			g.SignificantParts = append(g.SignificantParts, l)
		}
	}
	others := 0
	for _, l := range sortByDifference(functions) {
		if len(g.Functions) < n && exceedsSampling(l, first, second) {
			g.Functions = append(g.Functions, l)
			continue
		}
		others++
		g.Rest.From += l.From
		g.Rest.To += l.To
	}
	g.Rest.Name = fmt.Sprintf("%d other functions", others)
	return g, nil
}

func sortByDifference(lines map[string]Difference) []Difference {
	var out []Difference
	for _, l := range lines {
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b Difference) int {
		return compareValues(math.Abs(a.Change()), math.Abs(b.Change()), a.Name, b.Name)
	})
	return out
}

// exceedsSampling reports whether a difference exceeds twice its standard deviation. The number n
// of samples has a Poisson distribution with the variance n. So the variance of a value is the
// value times the value of one sample. Without a sampling period it is 0.
func exceedsSampling(d Difference, first, second Side) bool {
	sampleFrom, sampleTo := first.Profile.Sample/float64(first.Ops), second.Profile.Sample/float64(second.Ops)
	deviation := math.Sqrt(d.From*sampleFrom + d.To*sampleTo)
	return math.Abs(d.Change()) > 2*deviation
}

// Describe returns the gap for a result document, with at most n parts and n functions.
func (g Gap) Describe(n int) *tare.ProfileGap {
	convert := func(lines []Difference) []tare.GapLine {
		out := []tare.GapLine{} // an empty array in JSON, not null
		for _, l := range lines[:min(n, len(lines))] {
			out = append(out, tare.GapLine{Name: l.Name, From: l.From, To: l.To})
		}
		return out
	}
	return &tare.ProfileGap{
		Against:   g.From,
		From:      g.Whole.From,
		To:        g.Whole.To,
		Parts:     convert(g.SignificantParts),
		Functions: convert(g.Functions),
	}
}

// WriteText writes the gap as two tables: by part, and by function.
func (g Gap) WriteText(w io.Writer) error {
	unit := map[string]string{"nanoseconds": "ns", "bytes": "B"}[g.Unit]
	parts := append(slices.Clone(g.Parts), g.Whole)
	functions := append(slices.Clone(g.Functions), g.Rest, g.Whole)
	for i, lines := range [][]Difference{parts, functions} {
		isFunctions := i == 1
		if isFunctions {
			fmt.Fprintln(w)
		}
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintf(t, "%s/op\t%s\t%s\tdifference\t%% of it\t\n", unit, replaceControls(g.From), replaceControls(g.To))
		for _, l := range lines {
			name := l.Name
			if isFunctions {
				name = shortName(name)
			}
			fmt.Fprintf(t, "\t%s\t%s\t%s\t%s\t  %s\n", formatValue(l.From), formatValue(l.To), formatSigned(l.Change()), g.formatShare(l), replaceControls(name))
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func (g Gap) formatShare(l Difference) string {
	x := l.Change() / g.Whole.Change() * 100
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "–"
	}
	return formatSigned(math.Round(x))
}

// formatValue formats a number with three significant digits, or from 100 as an integer.
func formatValue(v float64) string {
	switch a := math.Abs(v); {
	case a == 0:
		return "0"
	case a >= 100:
		return fmt.Sprintf("%.0f", v)
	case a < 0.01:
		return "<0.01"
	}
	return fmt.Sprintf("%.3g", v)
}

func formatSigned(v float64) string {
	switch {
	case v > 0:
		return "+" + formatValue(v)
	case v < 0:
		return "−" + formatValue(-v)
	}
	return "0"
}

// replaceControls replaces control characters, line separators and invalid UTF-8. Names in a pprof
// document can have any bytes.
func replaceControls(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 || r >= 0x80 && r < 0xa0 {
			return '�'
		}
		return r
	}, strings.ToValidUTF8(s, "�"))
}
