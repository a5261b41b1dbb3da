package document

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/bring/advice"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/kinds/codec"
)

// Recommendation says, workload by workload, which codec to take for the
// documents and what comes with it, or to stay with encoding/json. Every figure
// is one of the result's. docs are those that codecs were asked for, of all that
// were given.
func Recommendation(r *tare.Result, docs []codec.Document, given int, t Type) []string {
	var out []string
	for _, w := range r.Workloads {
		a := &adviser{Reading: advice.Reading{Result: r, Baseline: Baseline, Workload: w.ID, Metric: "time"}, docs: docs, given: given, typ: t, into: doing(w, t)}
		out = append(out, a.lines()...)
	}
	return out
}

// SetAnswer gives a result the headline of its first workload's recommendation.
func SetAnswer(r *tare.Result, docs []codec.Document, given int, t Type) {
	if len(r.Workloads) == 0 {
		return
	}
	w := r.Workloads[0]
	a := &adviser{Reading: advice.Reading{Result: r, Baseline: Baseline, Workload: w.ID, Metric: "time"}, docs: docs, given: given, typ: t, into: doing(w, t)}
	a.Reading.SetAnswer("codec", "encoding/json", "where all values must stay", func(id string) bool { return a.values(id) == 0 })
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
	advice.Reading
	docs  []codec.Document // that were asked
	given int              // of how many the user gave
	typ   Type
	into  string
}

// lines are one sentence, or two where the fastest changes values.
func (a *adviser) lines() []string {
	subject := "For your " + subject(a.docs)
	if why := a.Nothing(); why != "" {
		return []string{fmt.Sprintf("%s, %s: no recommendation: %s.", subject, plainly(a.into), why)}
	}
	measured, faster := a.Measured(), a.faster()
	switch {
	case len(measured) == 0:
		return []string{fmt.Sprintf("%s, %s: no recommendation: no codec was compared with encoding/json.", subject, plainly(a.into))}
	case len(faster) == 0:
		none := fmt.Sprintf("none of the %d codecs measured was", len(measured))
		if len(measured) == 1 {
			none = measured[0].Contender + " was not"
		}
		return []string{fmt.Sprintf("%s, %s: stay with encoding/json: %s shown to be faster beyond what the control shows (±%s).",
			subject, plainly(a.into), none, advice.Percent(math.Expm1(a.NoiseFloor())))}
	}
	best := faster[0]
	lines := []string{subject + ": " + a.sentence(best, faster)}
	if a.values(best.Contender) == 0 {
		return lines
	}
	keeps := slices.IndexFunc(faster, func(c tare.Comparison) bool { return a.values(c.Contender) == 0 })
	if keeps < 0 {
		return append(lines, fmt.Sprintf("Where every value must stay as encoding/json has it, %s: stay with encoding/json.", plainly(a.into)))
	}
	return append(lines, "Where every value must stay as encoding/json has it: "+a.sentence(faster[keeps], faster))
}

// plainly is what is done, without a subject.
func plainly(into string) string {
	return strings.NewReplacer("decodes into", "decoded into", "encodes from", "encoded from").Replace(into)
}

// faster are the codecs shown to take less time than the baseline: the best
// placed first, among those of one place who keeps every value, then who is
// maintained, then by ratio.
func (a *adviser) faster() []tare.Comparison {
	list := a.Faster()
	// price is what makes one of two that are as fast the worse one.
	price := func(c tare.Comparison) int {
		who, _ := a.Result.Contender(c.Contender)
		return 2*min(1, a.values(c.Contender)) + min(1, len(who.Adoption.Unmaintained))
	}
	slices.SortStableFunc(list, func(x, y tare.Comparison) int {
		return cmp.Or(advice.Place(x)-advice.Place(y), price(x)-price(y))
	})
	return list
}

// sentence is what a codec brings and what it costs.
func (a *adviser) sentence(c tare.Comparison, faster []tare.Comparison) string {
	text := fmt.Sprintf("%s %s in %s the time of encoding/json, %s instead of %s; %s; %s", c.Contender, a.into,
		format.Within(c.Ratio, c.Low, c.High), advice.Nanoseconds(c.Value), advice.Nanoseconds(c.AgainstValue), a.meaning(c.Contender), a.Price(c.Contender))
	if Typed(a.Workload) && Generated(c.Contender) {
		text += "; code is generated for the type, again after every change of it"
	}
	return text + advice.TiedWith(c, faster) + "."
}

// differences returns how a codec differs on a workload, in certain classes.
func (a *adviser) differences(id, workload string, classes ...tare.DifferenceClass) []tare.Difference {
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

// wrongValues returns where a codec arrives at other values than encoding/json on a workload.
func (a *adviser) wrongValues(id, workload string) []tare.Difference {
	return a.differences(id, workload, tare.DiffersInValue, tare.DiffersInAcceptance)
}

// untimed lists the workloads that the budget had no time for. Codecs were asked about them
// all the same.
func (a *adviser) untimed() []tare.Workload {
	return slices.DeleteFunc(works(), func(w tare.Workload) bool {
		return slices.ContainsFunc(a.Result.Workloads, func(timed tare.Workload) bool { return timed.ID == w.ID })
	})
}

// values counts the documents on which a codec arrives at other values, on this workload and
// on those that have no recommendation of their own.
func (a *adviser) values(id string) int {
	n := len(a.wrongValues(id, a.Workload))
	for _, w := range a.untimed() {
		n += len(a.wrongValues(id, w.ID))
	}
	return n
}

// isAsked reports whether a codec was asked for anything.
func (a *adviser) isAsked(id string) bool {
	return slices.ContainsFunc(a.Result.Semantics, func(s tare.Semantics) bool { return s.Contender == id && s.Cases > 0 })
}

// count says of how many of the user's documents something holds, of n that were asked.
func (a *adviser) count(n int) string {
	asked := len(a.docs)
	switch {
	case a.given > asked && n == asked:
		return fmt.Sprintf("all %d that were asked of your %d documents", asked, a.given)
	case a.given > asked:
		return fmt.Sprintf("%d of the %d that were asked of your %d documents", n, asked, a.given)
	case asked == 1:
		return "your document"
	case n == asked:
		return "all your documents"
	}
	return fmt.Sprintf("%d of your %d documents", n, asked)
}

// meaning says on how many of the documents a codec differs, with the first
// place and what stands there, and adds what it does in operations that were not timed.
func (a *adviser) meaning(id string) string {
	if !a.isAsked(id) {
		return "what it makes of your documents was not asked"
	}
	text := "it has the same values as encoding/json"
	if a.given > len(a.docs) {
		text += " on " + a.count(len(a.docs))
	}
	if list := a.differences(id, a.Workload, tare.DiffersInForm); len(list) > 0 {
		text = "it has the same values, spelled or ordered differently on " + a.count(len(list))
	}
	if list := a.wrongValues(id, a.Workload); len(list) > 0 {
		text = fmt.Sprintf("its values differ on %s: %s", a.count(len(list)), example(list[0]))
	}
	for _, w := range a.untimed() {
		if list := a.wrongValues(id, w.ID); len(list) > 0 {
			text += fmt.Sprintf("; where it %s, which was not timed, its values differ on %s: %s", doing(w, a.typ), a.count(len(list)), example(list[0]))
		}
	}
	return text
}

// example is a difference as one would say it: where it is, what encoding/json
// has there, and what the codec has.
func example(d tare.Difference) string {
	at, path, ok := strings.Cut(d.Asked, " $")
	if !ok {
		return d.Says
	}
	return fmt.Sprintf("$%s is %s for encoding/json and %s for it (%s)", path, d.Reference, d.Got, at)
}
