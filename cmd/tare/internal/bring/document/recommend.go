package document

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/bring/advice"
	"github.com/tarebench/tare/kinds/codec"
)

// Recommendation says, workload by workload, which codec to take for the
// documents and what comes with it, or to stay with encoding/json. Every figure
// is one of the result's.
func Recommendation(r *tare.Result, docs []codec.Document, t Type) []string {
	var out []string
	for _, w := range r.Workloads {
		a := &adviser{r: r, w: w, docs: docs, into: doing(w, t)}
		out = append(out, a.lines()...)
	}
	return out
}

// doing is a workload in words, to follow a codec's name.
func doing(w tare.Workload, t Type) string {
	of := "any"
	if Typed(w.ID) {
		of = t.Name
		if of == "inferred" {
			of = "the inferred type"
		}
	}
	if verbOf(w) == "encodes" {
		return "encodes from " + of
	}
	return "decodes into " + of
}

// adviser reads one workload.
type adviser struct {
	r    *tare.Result
	w    tare.Workload
	docs []codec.Document
	into string
}

// lines are one sentence, or two where the fastest changes values.
func (a *adviser) lines() []string {
	subject := "For your " + subject(a.docs)
	if why := a.nothing(); why != "" {
		return []string{fmt.Sprintf("%s, %s: no recommendation: %s.", subject, plainly(a.into), why)}
	}
	faster := a.faster()
	if len(faster) == 0 {
		return []string{fmt.Sprintf("%s, %s: stay with encoding/json: none of the %d codecs weighed was shown to be faster beyond what the control shows (±%.1f %%).",
			subject, plainly(a.into), a.others(), 100*(math.Exp(a.control())-1))}
	}
	best := faster[0]
	lines := []string{subject + ": " + a.sentence(best)}
	if a.values(best.Contender) == 0 {
		return lines
	}
	keeps := slices.IndexFunc(faster, func(c tare.Comparison) bool { return a.values(c.Contender) == 0 })
	if keeps < 0 {
		return append(lines, fmt.Sprintf("Where every value must stay as encoding/json has it, %s: stay with encoding/json.", plainly(a.into)))
	}
	return append(lines, "Where every value must stay as encoding/json has it: "+a.sentence(faster[keeps]))
}

// plainly is what is done, without a subject.
func plainly(into string) string {
	return strings.NewReplacer("decodes into", "decoded into", "encodes from", "encoded from").Replace(into)
}

// nothing says why nothing can be said; empty where something can.
func (a *adviser) nothing() string {
	for _, id := range []string{Baseline, tare.ControlID} {
		if v := a.r.VoidsMetric(id, a.w.ID, "time"); len(v) > 0 {
			return fmt.Sprintf("%s is void by the check %s", id, v[0].Check)
		}
	}
	if a.control() == 0 {
		return "too few rounds for an interval"
	}
	return ""
}

// control is the half width of the control's interval, as a logarithm: what is
// closer to 1 is no difference.
func (a *adviser) control() float64 {
	if c, ok := a.comparison(tare.ControlID); ok && c.Low > 0 && c.High > 0 {
		return math.Log(c.High/c.Low) / 2
	}
	return 0
}

func (a *adviser) comparison(id string) (tare.Comparison, bool) {
	i := slices.IndexFunc(a.r.Comparisons, func(c tare.Comparison) bool {
		return c.Contender == id && c.Against == Baseline && c.Workload == a.w.ID && c.Metric == "time"
	})
	if i < 0 {
		return tare.Comparison{}, false
	}
	return a.r.Comparisons[i], true
}

// faster are the codecs shown to take less time than the baseline: the best
// placed first, among those of one place who keeps every value, then by ratio.
func (a *adviser) faster() []tare.Comparison {
	var out []tare.Comparison
	for _, c := range a.r.Contenders {
		x, ok := a.comparison(c.ID)
		if c.Role != tare.RoleContender || !ok || len(a.r.VoidsMetric(c.ID, a.w.ID, "time")) > 0 {
			continue
		}
		if x.Low > 0 && x.High > 0 && x.High < 1 && -math.Log(x.Ratio) > a.control() {
			out = append(out, x)
		}
	}
	changes := func(c tare.Comparison) int { return min(1, a.values(c.Contender)) }
	slices.SortStableFunc(out, func(x, y tare.Comparison) int {
		return cmp.Or(place(x)-place(y), changes(x)-changes(y), cmp.Compare(x.Ratio, y.Ratio))
	})
	return out
}

// place is the best rank that the evidence allows; without ranks nobody is told
// apart.
func place(c tare.Comparison) int { return max(1, c.RankLow) }

// tied are those that the evidence allows the same place as c.
func (a *adviser) tied(c tare.Comparison) string {
	var names []string
	for _, other := range a.faster() {
		if other.Contender != c.Contender && place(other) == place(c) {
			names = append(names, other.Contender)
		}
	}
	switch len(names) {
	case 0:
		return ""
	case 1:
		return "; " + names[0] + " was not told apart from it"
	}
	return "; " + strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1] + " were not told apart from it"
}

// others is how many codecs were held against the baseline.
func (a *adviser) others() int {
	n := 0
	for _, c := range a.r.Contenders {
		if _, ok := a.comparison(c.ID); ok && c.Role == tare.RoleContender {
			n++
		}
	}
	return n
}

// sentence is what a codec brings and what it costs.
func (a *adviser) sentence(c tare.Comparison) string {
	return fmt.Sprintf("%s %s in %.2fx (%.2f–%.2f) the time of encoding/json, %s instead of %s; %s; %s%s.", c.Contender, a.into,
		c.Ratio, c.Low, c.High, advice.Nanoseconds(c.Value), advice.Nanoseconds(c.AgainstValue), a.meaning(c.Contender), a.price(c.Contender), a.tied(c))
}

// of are the differences of a codec on this workload.
func (a *adviser) of(id string, class tare.DifferenceClass) int {
	n := 0
	for _, s := range a.r.Semantics {
		for _, d := range s.Differences {
			if s.Contender == id && d.Class == class && strings.HasPrefix(d.Case, a.w.ID+" ") {
				n++
			}
		}
	}
	return n
}

// values is on how many documents a codec arrives at other values.
func (a *adviser) values(id string) int {
	return a.of(id, tare.DiffersInValue) + a.of(id, tare.DiffersInAcceptance)
}

// meaning says on how many of the documents a codec differs.
func (a *adviser) meaning(id string) string {
	which := func(n int) string {
		if len(a.docs) == 1 {
			return "your document"
		}
		if n == len(a.docs) {
			return "all your documents"
		}
		return fmt.Sprintf("%d of your %d documents", n, len(a.docs))
	}
	if n := a.values(id); n > 0 {
		return "it differs on " + which(n) + " (below: what they answer differently)"
	}
	if n := a.of(id, tare.DiffersInForm); n > 0 {
		return "it has the same values, spelled or ordered differently on " + which(n)
	}
	return "it has the same values as encoding/json"
}

// price is what taking the codec in brings, compared with the baseline's
// program.
func (a *adviser) price(id string) string {
	c, _ := a.r.Contender(id)
	base, _ := a.r.Contender(Baseline)
	n := c.Adoption.ModulesLinked - base.Adoption.ModulesLinked
	modules := fmt.Sprintf("it links %d modules", n)
	switch {
	case n == 1:
		modules = "it links 1 module"
	case n <= 0:
		modules = "it links no further module"
	}
	text := modules + fmt.Sprintf(" and adds %s to the binary", advice.Bytes(max(0, c.BinaryBytes-base.BinaryBytes)))
	if c.Adoption.Unmaintained != "" {
		text += "; it counts as unmaintained"
	}
	return text
}
