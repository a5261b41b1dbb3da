package jsonstudy

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/advice"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/kinds/codec"
)

// Recommendation recommends a codec for each workload of the documents, with its costs, or to stay
// with encoding/json. Every number is one of the result's. docs are the measured documents, of
// given in total.
func Recommendation(r *tare.Result, docs []codec.Document, given int, t Type) []string {
	var out []string
	for _, w := range r.Workloads {
		a := &adviser{Reading: advice.Reading{Result: r, Baseline: Baseline, Workload: w.ID, Metric: "time"}, docs: docs, total: given, typ: t, into: describeWork(w, t)}
		out = append(out, a.recommend()...)
	}
	return out
}

// SetAnswer gives a result the headline of its first workload's recommendation.
func SetAnswer(r *tare.Result, docs []codec.Document, given int, t Type) {
	if len(r.Workloads) == 0 {
		return
	}
	w := r.Workloads[0]
	a := &adviser{Reading: advice.Reading{Result: r, Baseline: Baseline, Workload: w.ID, Metric: "time"}, docs: docs, total: given, typ: t, into: describeWork(w, t)}
	a.Reading.SetAnswer("codec", "encoding/json", "where all values must stay", func(id string) bool { return a.countWrong(id) == 0 })
}

// describeWork returns a workload in words, to follow a codec's name.
func describeWork(w tare.Workload, t Type) string {
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
	advice.Reading
	docs  []codec.Document // the measured ones
	total int              // documents of the user
	typ   Type
	into  string
}

// recommend returns one sentence, or two if the fastest changes values.
func (a *adviser) recommend() []string {
	subject := "For your " + describeSize(a.docs)
	if why := a.Nothing(); why != "" {
		return []string{fmt.Sprintf("%s, %s: no recommendation: %s.", subject, withoutSubject(a.into), why)}
	}
	measured, faster := a.Measured(), a.fasterCodecs()
	switch {
	case len(measured) == 0:
		return []string{fmt.Sprintf("%s, %s: no recommendation: no codec was compared with encoding/json.", subject, withoutSubject(a.into))}
	case len(faster) == 0:
		none := fmt.Sprintf("none of the %d codecs measured was", len(measured))
		if len(measured) == 1 {
			none = measured[0].Contender + " was not"
		}
		return []string{fmt.Sprintf("%s, %s: stay with encoding/json: %s shown to be faster beyond what the control shows (±%s).",
			subject, withoutSubject(a.into), none, advice.Percent(math.Expm1(a.NoiseFloor())))}
	}
	best := faster[0]
	lines := []string{subject + ": " + a.describeCodec(best, faster)}
	if a.countWrong(best.Contender) == 0 {
		return lines
	}
	keeps := slices.IndexFunc(faster, func(c tare.Comparison) bool { return a.countWrong(c.Contender) == 0 })
	if keeps < 0 {
		return append(lines, fmt.Sprintf("Where every value must stay as encoding/json has it, %s: stay with encoding/json.", withoutSubject(a.into)))
	}
	return append(lines, "Where every value must stay as encoding/json has it: "+a.describeCodec(faster[keeps], faster))
}

// withoutSubject returns the work of a codec without a subject.
func withoutSubject(into string) string {
	return strings.NewReplacer("decodes into", "decoded into", "encodes from", "encoded from").Replace(into)
}

// fasterCodecs returns the codecs significantly faster than the baseline: the best ranks first,
// within a rank those that keep every value, then maintained ones, then by ratio.
func (a *adviser) fasterCodecs() []tare.Comparison {
	list := a.Faster()
	// penalty is higher for the worse of two that are as fast.
	penalty := func(c tare.Comparison) int {
		who, _ := a.Result.Contender(c.Contender)
		return 2*min(1, a.countWrong(c.Contender)) + min(1, len(who.Adoption.Unmaintained))
	}
	slices.SortStableFunc(list, func(x, y tare.Comparison) int {
		return cmp.Or(advice.Place(x)-advice.Place(y), penalty(x)-penalty(y))
	})
	return list
}

// describeCodec returns the gain and the costs of a codec.
func (a *adviser) describeCodec(c tare.Comparison, faster []tare.Comparison) string {
	text := fmt.Sprintf("%s %s in %s the time of encoding/json, %s instead of %s; %s; %s", c.Contender, a.into,
		format.Within(c.Ratio, c.Low, c.High), advice.Nanoseconds(c.Value), advice.Nanoseconds(c.AgainstValue), a.describeValues(c.Contender), a.Price(c.Contender))
	if Typed(a.Workload) && Generated(c.Contender) {
		text += "; code is generated for the type, again after every change of it"
	}
	return text + advice.TiedWith(c, faster) + "."
}

// findDifferences returns how a codec differs on a workload, in certain classes.
func (a *adviser) findDifferences(id, workload string, classes ...tare.DifferenceClass) []tare.Difference {
	var out []tare.Difference
	for _, s := range a.Result.Semantics {
		for _, d := range s.Differences {
			if s.Contender == id && slices.Contains(classes, d.Class) && strings.HasPrefix(d.Case, workload+" ") {
				out = append(out, d)
			}
		}
	}
	return out
}

// wrongValues returns the documents of a workload on which a codec has other values than
// encoding/json.
func (a *adviser) wrongValues(id, workload string) []tare.Difference {
	return a.findDifferences(id, workload, tare.DiffersInValue, tare.DiffersInAcceptance)
}

// untimedWorkloads returns the workloads that the budget had no time for. Their values were
// compared all the same.
func (a *adviser) untimedWorkloads() []tare.Workload {
	return slices.DeleteFunc(allWorkloads(), func(w tare.Workload) bool {
		return slices.ContainsFunc(a.Result.Workloads, func(timed tare.Workload) bool { return timed.ID == w.ID })
	})
}

// countWrong counts the documents on which a codec has other values, on this workload and on those
// that have no recommendation of their own.
func (a *adviser) countWrong(id string) int {
	n := len(a.wrongValues(id, a.Workload))
	for _, w := range a.untimedWorkloads() {
		n += len(a.wrongValues(id, w.ID))
	}
	return n
}

// isAsked reports whether a codec's values were compared.
func (a *adviser) isAsked(id string) bool {
	return slices.ContainsFunc(a.Result.Semantics, func(s tare.Semantics) bool { return s.Contender == id && s.Cases > 0 })
}

// describeCount returns n, a number of measured documents, as a share of the user's, in words.
func (a *adviser) describeCount(n int) string {
	measured := len(a.docs)
	switch {
	case a.total > measured && n == measured:
		return fmt.Sprintf("all %d that were asked of your %d documents", measured, a.total)
	case a.total > measured:
		return fmt.Sprintf("%d of the %d that were asked of your %d documents", n, measured, a.total)
	case measured == 1:
		return "your document"
	case n == measured:
		return "all your documents"
	}
	return fmt.Sprintf("%d of your %d documents", n, measured)
}

// describeValues returns on how many of the documents a codec differs, with the first place and its
// values, and adds operations that were not timed.
func (a *adviser) describeValues(id string) string {
	if !a.isAsked(id) {
		return "what it makes of your documents was not asked"
	}
	text := "it has the same values as encoding/json"
	if a.total > len(a.docs) {
		text += " on " + a.describeCount(len(a.docs))
	}
	if list := a.findDifferences(id, a.Workload, tare.DiffersInForm); len(list) > 0 {
		text = "it has the same values, spelled or ordered differently on " + a.describeCount(len(list))
	}
	if list := a.wrongValues(id, a.Workload); len(list) > 0 {
		text = fmt.Sprintf("its values differ on %s: %s", a.describeCount(len(list)), describeDifference(list[0]))
	}
	for _, w := range a.untimedWorkloads() {
		if list := a.wrongValues(id, w.ID); len(list) > 0 {
			text += fmt.Sprintf("; where it %s, which was not timed, its values differ on %s: %s", describeWork(w, a.typ), a.describeCount(len(list)), describeDifference(list[0]))
		}
	}
	return text
}

// describeDifference returns a difference in words: its path, the value of encoding/json, and that
// of the codec.
func describeDifference(d tare.Difference) string {
	at, path, ok := strings.Cut(d.Asked, " $")
	if !ok {
		return d.Says
	}
	return fmt.Sprintf("$%s is %s for encoding/json and %s for it (%s)", path, d.Reference, d.Got, at)
}
