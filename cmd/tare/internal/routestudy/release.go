package routestudy

import (
	"fmt"
	"go/version"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/advice"
	sdk "github.com/tarebench/tare/contender/router"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/kinds/router"
)

// This file compares Go releases by the user's routes (tare routes --go). For example, chi built
// with go1.27 is compared with chi built with go1.26.

// ReleaseStudyID is the id of the study of several Go releases. It differs from the id of the study of
// routers, because the history compares results with the same id.
const ReleaseStudyID = StudyID + "-go"

// Releases are routers, each built with several toolchains.
type Releases struct {
	Routers    []string // ids in the catalog, the baseline of the table first
	Toolchains []string // e.g. go1.26.8; the others are compared with the first
}

func contenderID(router, toolchain string) string { return router + "-" + toolchain }

// ReleaseStudy returns the text of a study file of routers, each built with several toolchains. The
// baseline is the first router with the first toolchain. A study compares contenders only with its
// baseline. So decompositions, which can start from any contender, compare the toolchains of other
// routers.
func (d *Document) ReleaseStudy(r Releases) string {
	var b strings.Builder
	var names []string
	for _, id := range r.Routers {
		names = append(names, routerName(id))
	}
	question := fmt.Sprintf("What changes between the Go releases %s for %s on the %s of %s?", strings.Join(r.Toolchains, ", "), advice.JoinNames(names), d.countRoutes(), d.fileTitle())
	first := r.Toolchains[0]
	fmt.Fprintf(&b, "study: %s\nquestion: %q\nkind: %s\nbaseline: %s\ncontenders:\n", ReleaseStudyID, question, sdk.Kind, contenderID(r.Routers[0], first))
	for _, id := range r.Routers {
		for _, toolchain := range r.Toolchains {
			fmt.Fprintf(&b, "  - {id: %s, use: %s%s}\n", contenderID(id, toolchain), id, goField(toolchain))
		}
	}
	if len(r.Routers) > 1 {
		b.WriteString("decompose:\n")
	}
	for _, id := range r.Routers[1:] {
		for _, toolchain := range r.Toolchains[1:] {
			to := contenderID(id, toolchain)
			fmt.Fprintf(&b, "  - {id: %s, workload: %s, from: %s, steps: [{to: %s, cause: the Go release}]}\n", to, allID, contenderID(id, first), to)
		}
	}
	d.writeWork(&b)
	return b.String()
}

// goField returns the field of a contender with its toolchain, such as ", go: go1.26.8". It returns
// "" for a release such as go1.26, which study files do not allow.
func goField(toolchain string) string {
	release, _, _ := strings.Cut(toolchain, "+")
	if version.Lang(release) == release {
		return ""
	}
	return ", go: " + toolchain
}

// SetToolchains sets the toolchains of the contenders of a ReleaseStudy.
func (r Releases) SetToolchains(contenders []tare.Entry) {
	for i := range contenders {
		contenders[i].Go = r.Toolchains[i%len(r.Toolchains)] // the order of ReleaseStudy
	}
}

// ReleaseAdvice describes the result of a ReleaseStudy.
type ReleaseAdvice struct {
	Document *Document
	Result   *tare.Result
	Releases
}

func (a ReleaseAdvice) newReading() advice.Reading {
	return advice.Reading{Result: a.Result, Baseline: contenderID(a.Routers[0], a.Toolchains[0]), Workload: allID, Metric: "time"}
}

// Lines compares each router and toolchain with the same router built with the first toolchain. There
// is a sentence about the cost of a lookup and one about the answers for each. It adds a line about
// each router that could not be measured.
func (a ReleaseAdvice) Lines() []string {
	subject := "On your " + a.Document.countRoutes()
	r := a.newReading()
	var out []string
	if why := r.WhyNoAdvice(); why != "" {
		out = append(out, fmt.Sprintf("%s: no ratio: %s.", subject, why))
	}
	for _, id := range a.Routers {
		first := contenderID(id, a.Toolchains[0])
		for _, toolchain := range a.Toolchains[1:] {
			other := contenderID(id, toolchain)
			if r.WhyNoAdvice() == "" {
				out = append(out, subject+" "+a.describeCost(r, first, other))
			}
			if text := a.describeAnswers(first, other); text != "" {
				out = append(out, text)
			}
		}
	}
	return append(out, listRejected(a.Result)...)
}

// findPair compares a contender with its router built with the first toolchain.
func (a ReleaseAdvice) findPair(r advice.Reading, first, other string) (c tare.Comparison, ok bool) {
	if len(a.Result.VoidsMetric(first, r.Workload, r.Metric))+len(a.Result.VoidsMetric(other, r.Workload, r.Metric)) > 0 {
		return c, false
	}
	if first == r.Baseline {
		c, ok = r.Comparison(other)
		return c, ok && c.Bounded()
	}
	for _, d := range a.Result.Decomposition {
		if d.Workload != r.Workload || d.Metric != r.Metric || d.Whole.From != first || d.Whole.To != other {
			continue
		}
		w := d.Whole
		c = tare.Comparison{
			Workload: d.Workload, Contender: other, Against: first, Metric: d.Metric, Ratio: w.Ratio, Low: w.Low, High: w.High,
			Level: w.Level, Rounds: w.Rounds, AgainstValue: w.FromValue, Value: w.ToValue, Unit: w.Unit,
		}
		return c, c.Bounded()
	}
	return c, false
}

// describeCost returns a sentence about the time of a lookup, without its subject.
func (a ReleaseAdvice) describeCost(r advice.Reading, first, other string) string {
	c, ok := a.findPair(r, first, other)
	if !ok {
		return fmt.Sprintf("%s was not compared with %s.", other, first)
	}
	return fmt.Sprintf("%s takes %s the time of %s for a lookup, %s instead of %s%s.", other,
		format.Within(c.Ratio, c.Low, c.High), first, advice.FormatNanoseconds(c.Value), advice.FormatNanoseconds(c.AgainstValue), r.DescribeDoubt(c))
}

// changedAnswer is an odd request that two releases answer differently.
type changedAnswer struct {
	request      string
	before, then string // answers with the first and with the other release
	isMisrouted  bool   // an ordinary request for a route of the user, whose answer was right with the first release
}

// findSemantics returns the answers of a contender, or nil if it was not tested.
func (a ReleaseAdvice) findSemantics(id string) *tare.Semantics {
	for i, s := range a.Result.Semantics {
		if s.Contender == id && s.Cases > 0 {
			return &a.Result.Semantics[i]
		}
	}
	return nil
}

// compareAnswers returns the tests in which two contenders answer differently. A result lacks the
// tests in which a contender answers like the reference.
func compareAnswers(before, then *tare.Semantics) []changedAnswer {
	find := func(s *tare.Semantics, d tare.Difference) (tare.Difference, bool) {
		for _, other := range s.Differences {
			if other.Op == d.Op && other.Case == d.Case {
				return other, true
			}
		}
		return tare.Difference{}, false
	}
	var out []changedAnswer
	for _, d := range then.Differences {
		was, differed := find(before, d)
		if !differed {
			out = append(out, changedAnswer{d.Asked, d.Reference, d.Got, router.IsMisrouted(d)})
		} else if was.Got != d.Got {
			out = append(out, changedAnswer{d.Asked, was.Got, d.Got, false})
		}
	}
	for _, d := range before.Differences {
		if _, differs := find(then, d); !differs {
			out = append(out, changedAnswer{d.Asked, d.Got, d.Reference, false})
		}
	}
	return out
}

const maxChanges = 3

// describeAnswers returns a sentence about the requests that a release answers differently, or "" if
// one of the two was not tested.
func (a ReleaseAdvice) describeAnswers(first, other string) string {
	before, then := a.findSemantics(first), a.findSemantics(other)
	if before == nil || then == nil {
		return ""
	}
	changes := compareAnswers(before, then)
	if len(changes) == 0 {
		return fmt.Sprintf("%s answers all %d odd requests as %s does.", other, then.Cases, first)
	}
	misrouted := 0
	var texts []string
	for _, c := range changes {
		if c.isMisrouted {
			misrouted++
		}
		if len(texts) < maxChanges {
			texts = append(texts, fmt.Sprintf("%s: %s instead of %s", c.request, c.then, c.before))
		}
	}
	text := fmt.Sprintf("%s answers %d of %d odd requests otherwise than %s", other, len(changes), then.Cases, first)
	if misrouted > 0 {
		text += fmt.Sprintf(", %d of them requests for your routes", misrouted)
	}
	text += ": " + strings.Join(texts, "; ")
	if more := len(changes) - len(texts); more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text + "."
}

// SetAnswer sets the headline of the result: cost and answers of the first router with the last
// toolchain.
func (a ReleaseAdvice) SetAnswer() {
	r := a.newReading()
	first, last := r.Baseline, contenderID(a.Routers[0], a.Toolchains[len(a.Toolchains)-1])
	const unconditional = ""
	r.SetAnswer("release", first, unconditional, nil) // sets the values below the headline; the text is replaced below
	if r.WhyNoAdvice() != "" {
		return // the headline gives the reason
	}
	c, ok := a.findPair(r, first, last)
	if !ok {
		a.Result.Answer = fmt.Sprintf("No answer: %s was not compared with %s.", last, first)
		return
	}
	text := fmt.Sprintf("%s takes %s the time of %s", last, format.Factor(c.Ratio), first)
	if !r.IsShown(c) {
		text = fmt.Sprintf("%s is not shown to differ in time from %s", last, first)
	}
	if before, then := a.findSemantics(first), a.findSemantics(last); before != nil && then != nil {
		if n := len(compareAnswers(before, then)); n > 0 {
			text += fmt.Sprintf(", with other answers to %d of %d odd requests", n, then.Cases)
		} else {
			text += ", with the same answers"
		}
	}
	a.Result.Answer = text + "."
}
