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

// Side is one of two contenders that are compared with each other.
type Side struct {
	Name    string // contender
	Profile *Profile
	Ops     int64 // done while the profile was taken
}

// Gap is the difference of two contenders, by function and by part.
type Gap struct {
	From, To string // contenders
	Unit     string // of all figures: nanoseconds or bytes, per operation
	Parts    []Line // packages, and what the runtime did, those furthest apart first; they add up to Whole
	Told     []Line // parts of which sampling alone does not show the difference
	Lines    []Line // functions, those furthest apart first; they and Rest add up to Whole
	Rest     Line   // of all other functions; its name says how many
	Whole    Line
}

// Line is what one function or part took itself for an operation, in both
// contenders.
type Line struct {
	Function string
	From, To float64
}

// Difference is how much more it is in the second.
func (l Line) Difference() float64 { return l.To - l.From }

// Differ names the n functions that account for most of the gap between two
// contenders, per operation. Functions of which sampling alone may show the
// difference are with the rest.
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
	g.Parts = furthest(parts)
	for _, l := range g.Parts {
		if beyondSampling(l, from, to) {
			g.Told = append(g.Told, l)
		}
	}
	others := 0
	for _, l := range furthest(functions) {
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

// furthest are the lines of a map, those furthest apart first.
func furthest(of map[string]Line) []Line {
	var out []Line
	for _, l := range of {
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b Line) int {
		return order(math.Abs(a.Difference()), math.Abs(b.Difference()), a.Function, b.Function)
	})
	return out
}

// beyondSampling reports whether a line's two figures are further apart than
// they come out where nothing but the moments of sampling differ: twice the
// standard deviation of their difference, with counts of samples that are
// Poisson's. A profile that does not say what one sample stands for has none.
func beyondSampling(l Line, from, to Side) bool {
	a, b := from.Profile.Sample/float64(from.Ops), to.Profile.Sample/float64(to.Ops)
	return math.Abs(l.Difference()) > 2*math.Sqrt(l.From*a+l.To*b)
}

// Describe is the gap in a result's words, with n parts and n functions at most,
// and none of which sampling alone may show the difference.
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
		fmt.Fprintf(t, "%s/op\t%s\t%s\tdifference\t%% of it\t\n", unit, plain(g.From), plain(g.To))
		for _, l := range lines {
			name := l.Function
			if i > 0 {
				name = short(name)
			}
			fmt.Fprintf(t, "\t%s\t%s\t%s\t%s\t  %s\n", figure(l.From), figure(l.To), signed(l.Difference()), g.share(l), plain(name))
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// share is a line's part of the whole difference, as a percentage.
func (g Gap) share(l Line) string {
	x := l.Difference() / g.Whole.Difference() * 100
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "–"
	}
	return signed(math.Round(x))
}

// figure is a number with three significant digits, or whole.
func figure(v float64) string {
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

func signed(v float64) string {
	switch {
	case v > 0:
		return "+" + figure(v)
	case v < 0:
		return "−" + figure(-v)
	}
	return "0"
}

// plain keeps a name on its line: a document can hold any.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 || r >= 0x80 && r < 0xa0 {
			return '�'
		}
		return r
	}, strings.ToValidUTF8(s, "�"))
}
