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

// Recommendation returns sentences that recommend a codec for each workload, with its costs, or advise
// to stay with encoding/json. A workload is decoding or encoding, with or without a Go type. The
// measured documents are docs; the user has total.
func Recommendation(r *tare.Result, docs []codec.Document, total int, t Type) []string {
	var out []string
	for _, w := range r.Workloads {
		out = append(out, newAdviser(r, w, docs, total, t).recommend()...)
	}
	return out
}

func newAdviser(r *tare.Result, w tare.Workload, docs []codec.Document, total int, t Type) *adviser {
	reading := advice.Reading{Result: r, Baseline: Baseline, Workload: w.ID, Metric: "time"}
	return &adviser{Reading: reading, docs: docs, total: total, typ: t, clause: describeWork(w, t)}
}

// SetAnswer sets the headline of a result: the recommendation for its first workload. It has the
// parameters of Recommendation.
func SetAnswer(r *tare.Result, docs []codec.Document, total int, t Type) {
	if len(r.Workloads) == 0 {
		return
	}
	a := newAdviser(r, r.Workloads[0], docs, total, t)
	a.Reading.SetAnswer("codec", "encoding/json", "where all values must stay", func(id string) bool { return a.countWrong(id) == 0 })
}

// describeWork describes a workload as a clause: "decodes into any".
func describeWork(w tare.Workload, t Type) string {
	typeName := "any"
	switch {
	case Typed(w.ID) && t.Name == "inferred":
		typeName = "the inferred type"
	case Typed(w.ID):
		typeName = t.Name
	}
	if verbOf(w) == "encodes" {
		return "encodes from " + typeName
	}
	return "decodes into " + typeName
}

type adviser struct {
	advice.Reading
	docs   []codec.Document // measured documents
	total  int              // number of all documents of the user
	typ    Type
	clause string // see describeWork
}

// recommend returns a sentence about the fastest codec. If that changes values, a second sentence is
// about the fastest one that does not.
func (a *adviser) recommend() []string {
	subject := "For your " + describeSize(a.docs)
	if why := a.WhyNoAdvice(); why != "" {
		return []string{fmt.Sprintf("%s, %s: no recommendation: %s.", subject, inPassive(a.clause), why)}
	}
	measured, faster := a.Measured(), a.fasterCodecs()
	switch {
	case len(measured) == 0:
		return []string{fmt.Sprintf("%s, %s: no recommendation: no codec was compared with encoding/json.", subject, inPassive(a.clause))}
	case len(faster) == 0:
		none := fmt.Sprintf("none of the %d codecs measured was", len(measured))
		if len(measured) == 1 {
			none = measured[0].Contender + " was not"
		}
		return []string{fmt.Sprintf("%s, %s: stay with encoding/json: %s shown to be faster beyond what the control shows (±%s).",
			subject, inPassive(a.clause), none, advice.FormatPercent(math.Expm1(a.NoiseFloor())))} // a logarithm of a ratio
	}
	best := faster[0]
	lines := []string{subject + ": " + a.describeCodec(best, faster)}
	if a.countWrong(best.Contender) == 0 {
		return lines
	}
	i := slices.IndexFunc(faster, func(c tare.Comparison) bool { return a.countWrong(c.Contender) == 0 })
	if i < 0 {
		return append(lines, fmt.Sprintf("Where every value must stay as encoding/json has it, %s: stay with encoding/json.", inPassive(a.clause)))
	}
	return append(lines, "Where every value must stay as encoding/json has it: "+a.describeCodec(faster[i], faster))
}

// inPassive returns "decoded into any" for "decodes into any".
func inPassive(clause string) string {
	return strings.NewReplacer("decodes into", "decoded into", "encodes from", "encoded from").Replace(clause)
}

// fasterCodecs returns the codecs that are significantly faster than the baseline, by rank. Within a
// rank, codecs that change no value come first, then maintained ones.
func (a *adviser) fasterCodecs() []tare.Comparison {
	list := a.Faster()
	penalty := func(c tare.Comparison) (points int) {
		if a.countWrong(c.Contender) > 0 {
			points += 2 // outweighs "unmaintained"
		}
		if contender, _ := a.Result.Contender(c.Contender); contender.Adoption.Unmaintained != "" {
			points++
		}
		return points
	}
	slices.SortStableFunc(list, func(x, y tare.Comparison) int {
		return cmp.Or(advice.BestRank(x)-advice.BestRank(y), penalty(x)-penalty(y))
	})
	return list
}

func (a *adviser) describeCodec(c tare.Comparison, faster []tare.Comparison) string {
	text := fmt.Sprintf("%s %s in %s the time of encoding/json, %s instead of %s; %s; %s", c.Contender, a.clause,
		format.Within(c.Ratio, c.Low, c.High), advice.FormatNanoseconds(c.Value), advice.FormatNanoseconds(c.AgainstValue), a.describeValues(c.Contender), a.DescribeCosts(c.Contender))
	if Typed(a.Workload) && Generated(c.Contender) {
		text += "; code is generated for the type, again after every change of it"
	}
	return text + advice.DescribeTies(c, faster) + "."
}

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

// wrongValues returns the documents with other values, or rejected ones.
func (a *adviser) wrongValues(id, workload string) []tare.Difference {
	return a.findDifferences(id, workload, tare.DiffersInValue, tare.DiffersInAcceptance)
}

// untimedWorkloads returns the workloads that are not in the result. Their values may have been
// compared.
func (a *adviser) untimedWorkloads() []tare.Workload {
	return slices.DeleteFunc(allWorkloads(), func(w tare.Workload) bool {
		return slices.ContainsFunc(a.Result.Workloads, func(timed tare.Workload) bool { return timed.ID == w.ID })
	})
}

// countWrong counts documents with other values, also in untimed workloads.
func (a *adviser) countWrong(id string) int {
	n := len(a.wrongValues(id, a.Workload))
	for _, w := range a.untimedWorkloads() {
		n += len(a.wrongValues(id, w.ID))
	}
	return n
}

func (a *adviser) isCompared(id string) bool {
	return slices.ContainsFunc(a.Result.Semantics, func(s tare.Semantics) bool { return s.Contender == id && s.Cases > 0 })
}

// describeCount describes n measured documents: "3 of your 10 documents".
func (a *adviser) describeCount(n int) string {
	measured := len(a.docs)
	switch {
	case a.total > measured && n == measured:
		return fmt.Sprintf("all %d that were tested of your %d documents", measured, a.total)
	case a.total > measured:
		return fmt.Sprintf("%d of the %d that were tested of your %d documents", n, measured, a.total)
	case measured == 1:
		return "your document"
	case n == measured:
		return "all your documents"
	}
	return fmt.Sprintf("%d of your %d documents", n, measured)
}

// describeValues returns a clause about the documents with other values.
func (a *adviser) describeValues(id string) string {
	if !a.isCompared(id) {
		return "what it makes of your documents was not tested"
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

func describeDifference(d tare.Difference) string {
	document, path, ok := strings.Cut(d.Asked, " $") // e.g. "orders.json $.items[3].price"
	if !ok {
		return d.Says
	}
	return fmt.Sprintf("$%s is %s for encoding/json and %s for it (%s)", path, d.Reference, d.Got, document)
}
