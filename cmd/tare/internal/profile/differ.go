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

// Side is one of two compared contenders.
type Side struct {
	Name    string // contender
	Profile *Profile
	Ops     int64 // operations during the profile
}

// Gap is the difference between two contenders, by function and by part.
type Gap struct {
	From, To string // contenders
	Unit     string // of all values: nanoseconds or bytes, per operation
	Parts    []Line // packages and parts of the runtime, largest difference first; their sum is Whole
	Told     []Line // parts whose difference exceeds sampling error
	Lines    []Line // functions, largest difference first; their sum with Rest is Whole
	Rest     Line   // all other functions; the name contains their number
	Whole    Line
}

// Line holds what one function or part took itself per operation, in both contenders.
type Line struct {
	Function string
	From, To float64
}

// Difference returns how much more the second contender takes.
func (l Line) Difference() float64 { return l.To - l.From }

// Differ returns the n functions with the largest differences between two contenders, per
// operation. Functions whose difference may be sampling error are in Rest.
func Differ(from, to Side, n int) (Gap, error) {
	switch {
	case from.Profile == nil || to.Profile == nil || from.Ops <= 0 || to.Ops <= 0:
		return Gap{}, errors.New("a gap needs two profiles and the operations that were done meanwhile")
	case from.Profile.Of != to.Profile.Of:
		return Gap{}, fmt.Errorf("a profile of %s and one of %s have no gap", from.Profile.Of, to.Profile.Of)
	}
	g := Gap{From: from.Name, To: to.Name, Unit: from.Profile.Unit, Whole: Line{Function: "all"}}
	functions, parts := map[string]Line{}, map[string]Line{}
	add := func(s stack, l Line) {
		for name, sums := range map[string]map[string]Line{s.frames[len(s.frames)-1]: functions, partOf(s): parts} {
			sum := sums[name]
			sums[name] = Line{name, sum.From + l.From, sum.To + l.To}
		}
		g.Whole.From += l.From
		g.Whole.To += l.To
	}
	for _, s := range from.Profile.stacks {
		add(s, Line{From: s.value / float64(from.Ops)})
	}
	for _, s := range to.Profile.stacks {
		add(s, Line{To: s.value / float64(to.Ops)})
	}
	g.Parts = sortByDifference(parts)
	for _, l := range g.Parts {
		if beyondSampling(l, from, to) {
			g.Told = append(g.Told, l)
		}
	}
	others := 0
	for _, l := range sortByDifference(functions) {
		if len(g.Lines) < n && beyondSampling(l, from, to) {
			g.Lines = append(g.Lines, l)
			continue
		}
		others++
		g.Rest.From += l.From
		g.Rest.To += l.To
	}
	g.Rest.Function = fmt.Sprintf("%d other functions", others)
	return g, nil
}

// sortByDifference returns the lines of a map, largest difference first.
func sortByDifference(of map[string]Line) []Line {
	var out []Line
	for _, l := range of {
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b Line) int {
		return compareValues(math.Abs(a.Difference()), math.Abs(b.Difference()), a.Function, b.Function)
	})
	return out
}

// beyondSampling reports whether a line's difference exceeds twice its standard deviation, with
// Poisson counts of samples. It is always true if the profile has no sampling period.
func beyondSampling(l Line, from, to Side) bool {
	a, b := from.Profile.Sample/float64(from.Ops), to.Profile.Sample/float64(to.Ops)
	return math.Abs(l.Difference()) > 2*math.Sqrt(l.From*a+l.To*b)
}

// Describe returns the gap for a result, with at most n parts and n functions whose difference
// exceeds sampling error.
func (g Gap) Describe(n int) *tare.ProfileGap {
	out := &tare.ProfileGap{Against: g.From, From: g.Whole.From, To: g.Whole.To}
	lines := func(of []Line) []tare.GapLine {
		list := []tare.GapLine{}
		for _, l := range of[:min(n, len(of))] {
			list = append(list, tare.GapLine{Name: l.Function, From: l.From, To: l.To})
		}
		return list
	}
	out.Parts, out.Functions = lines(g.Told), lines(g.Lines)
	return out
}

// WriteText writes the gap as two tables: by part, and by function.
func (g Gap) WriteText(w io.Writer) error {
	unit := map[string]string{"nanoseconds": "ns", "bytes": "B"}[g.Unit]
	for i, lines := range [][]Line{append(slices.Clone(g.Parts), g.Whole), append(slices.Clone(g.Lines), g.Rest, g.Whole)} {
		if i > 0 {
			fmt.Fprintln(w)
		}
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintf(t, "%s/op\t%s\t%s\tdifference\t%% of it\t\n", unit, replaceControls(g.From), replaceControls(g.To))
		for _, l := range lines {
			name := l.Function
			if i > 0 {
				name = shortName(name)
			}
			fmt.Fprintf(t, "\t%s\t%s\t%s\t%s\t  %s\n", formatValue(l.From), formatValue(l.To), formatSigned(l.Difference()), g.formatShare(l), replaceControls(name))
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// formatShare returns a line's part of the whole difference as a percentage.
func (g Gap) formatShare(l Line) string {
	x := l.Difference() / g.Whole.Difference() * 100
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "–"
	}
	return formatSigned(math.Round(x))
}

// formatValue returns a number with three significant digits, or an integer.
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

// replaceControls replaces control characters: a document can contain any name.
func replaceControls(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 || r >= 0x80 && r < 0xa0 {
			return '�'
		}
		return r
	}, strings.ToValidUTF8(s, "�"))
}
