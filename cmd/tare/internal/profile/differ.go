package profile

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
)

// Side is one of two contenders that are held against each other.
type Side struct {
	Name    string // contender
	Profile *Profile
	Ops     int64 // done while the profile was taken
}

// Gap is the difference of two contenders, by function.
type Gap struct {
	From, To string // contenders
	Unit     string // of all figures: nanoseconds or bytes, per operation
	Lines    []Line // those furthest apart first; they and Rest add up to Whole
	Rest     Line   // of all other functions; its name says how many
	Whole    Line
}

// Line is what one function took itself for an operation, in both contenders.
type Line struct {
	Function string
	From, To float64
}

// Difference is how much more it is in the second.
func (l Line) Difference() float64 { return l.To - l.From }

// Differ names the n functions that account for most of the gap between two
// contenders, per operation.
func Differ(from, to Side, n int) (Gap, error) {
	switch {
	case from.Profile == nil || to.Profile == nil || from.Ops <= 0 || to.Ops <= 0:
		return Gap{}, errors.New("a gap needs two profiles and the operations that were done meanwhile")
	case from.Profile.Of != to.Profile.Of:
		return Gap{}, fmt.Errorf("a profile of %s and one of %s have no gap", from.Profile.Of, to.Profile.Of)
	}
	g := Gap{From: from.Name, To: to.Name, Unit: from.Profile.Unit, Whole: Line{Function: "all"}}
	lines := map[string]Line{}
	add := func(s stack, l Line) {
		f := s.frames[len(s.frames)-1]
		sum := lines[f]
		lines[f] = Line{f, sum.From + l.From, sum.To + l.To}
		g.Whole.From += l.From
		g.Whole.To += l.To
	}
	for _, s := range from.Profile.stacks {
		add(s, Line{From: s.value / float64(from.Ops)})
	}
	for _, s := range to.Profile.stacks {
		add(s, Line{To: s.value / float64(to.Ops)})
	}
	for _, l := range lines {
		g.Lines = append(g.Lines, l)
	}
	slices.SortFunc(g.Lines, func(a, b Line) int {
		return order(math.Abs(a.Difference()), math.Abs(b.Difference()), a.Function, b.Function)
	})
	rest := g.Lines[min(n, len(g.Lines)):]
	g.Lines = g.Lines[:len(g.Lines)-len(rest)]
	g.Rest.Function = fmt.Sprintf("%d other functions", len(rest))
	for _, l := range rest {
		g.Rest.From += l.From
		g.Rest.To += l.To
	}
	return g, nil
}

// WriteText writes the gap as a table.
func (g Gap) WriteText(w io.Writer) error {
	unit := map[string]string{"nanoseconds": "ns", "bytes": "B"}[g.Unit]
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "%s/op\t%s\t%s\tdifference\t\n", unit, plain(g.From), plain(g.To))
	for _, l := range append(slices.Clone(g.Lines), g.Rest, g.Whole) {
		fmt.Fprintf(t, "\t%s\t%s\t%s\t  %s\n", figure(l.From), figure(l.To), signed(l.Difference()), plain(short(l.Function)))
	}
	return t.Flush()
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
