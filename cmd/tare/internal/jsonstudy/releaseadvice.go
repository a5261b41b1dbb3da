package jsonstudy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/advice"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/kinds/codec"
)

// releaseNotes is the page that announces the new implementation of encoding/json. The only announced
// difference is in the texts of errors.
const releaseNotes = "https://go.dev/doc/go1.27#jsonv2"

// ReleaseAdvice describes in sentences the result of a study of encoding/json in several Go releases.
type ReleaseAdvice struct {
	Result     *tare.Result
	Docs       []codec.Document // measured documents
	Total      int              // number of all documents of the user
	Type       Type             // type that documents are decoded into
	Toolchains []string         // those that the user selected, the baseline first
}

// Lines returns a sentence about the cost of each release on each workload, and one about the outputs
// of each release.
func (a ReleaseAdvice) Lines() []string {
	var out []string
	for _, w := range a.Result.Workloads {
		out = append(out, a.describeCosts(w)...)
	}
	for _, id := range addFormer(a.Toolchains)[1:] {
		if text := a.describeAnswers(id); text != "" {
			out = append(out, text)
		}
	}
	return out
}

func (a ReleaseAdvice) newAdviser(w tare.Workload) *adviser {
	r := newAdviser(a.Result, w, a.Docs, a.Total, a.Type)
	r.Baseline = a.Toolchains[0]
	return r
}

func (a ReleaseAdvice) describeCosts(w tare.Workload) []string {
	r := a.newAdviser(w)
	subject := "For your " + describeSize(a.Docs)
	if why := r.WhyNoAdvice(); why != "" {
		return []string{fmt.Sprintf("%s, %s: no ratio: %s.", subject, inPassive(r.clause), why)}
	}
	measured := r.Measured()
	var out []string
	for _, id := range addFormer(a.Toolchains)[1:] {
		i := slices.IndexFunc(measured, func(c tare.Comparison) bool { return c.Contender == id })
		if i < 0 {
			out = append(out, fmt.Sprintf("%s, %s: %s was not compared with %s.", subject, inPassive(r.clause), id, r.Baseline))
			continue
		}
		c := measured[i]
		text := fmt.Sprintf("%s: %s %s in %s the time of %s, %s instead of %s", subject, id, r.clause,
			format.Within(c.Ratio, c.Low, c.High), r.Baseline, advice.FormatNanoseconds(c.Value), advice.FormatNanoseconds(c.AgainstValue))
		out = append(out, text+r.DescribeDoubt(c)+".")
	}
	return out
}

// findSemantics returns the differences between the outputs of a toolchain and of the baseline. It
// returns nil if the toolchain was not tested.
func (a ReleaseAdvice) findSemantics(id string) *tare.Semantics {
	i := slices.IndexFunc(a.Result.Semantics, func(s tare.Semantics) bool { return s.Contender == id && s.Cases > 0 })
	if i < 0 {
		return nil
	}
	return &a.Result.Semantics[i]
}

// isOfDocument reports whether a difference is about a document of the user, and not about a damaged
// document or an unusual value.
func isOfDocument(d tare.Difference) bool {
	return slices.ContainsFunc(allWorkloads(), func(w tare.Workload) bool { return strings.HasPrefix(d.Case, w.ID+" ") })
}

func isAnnounced(d tare.Difference) bool { return d.Property == errorTexts }

func (a ReleaseAdvice) nameDocuments() string {
	if tested := len(a.Docs); a.Total > tested {
		return fmt.Sprintf("the %d tested ones of your %d documents", tested, a.Total)
	}
	return "your documents"
}

// describeAnswers describes how many outputs differ, what was announced, and how to restore the former
// ones. It returns "" if the toolchain was not tested.
func (a ReleaseAdvice) describeAnswers(id string) string {
	s := a.findSemantics(id)
	if s == nil {
		return ""
	}
	base, documents := a.Toolchains[0], a.nameDocuments()
	var onDocuments, onOthers, unannounced []tare.Difference
	for _, d := range s.Differences {
		if isOfDocument(d) {
			onDocuments = append(onDocuments, d)
		} else {
			onOthers = append(onOthers, d)
		}
		if !isAnnounced(d) {
			unannounced = append(unannounced, d)
		}
	}
	if len(s.Differences) == 0 {
		return fmt.Sprintf("%s answers as %s does in all %d tests: to %s, to documents that are damaged in one place, and to unusual values.", id, base, s.Cases, documents)
	}
	text := fmt.Sprintf("%s answers as %s does to %s", id, base, documents)
	if n := len(onDocuments); n > 0 {
		text = fmt.Sprintf("%s answers otherwise than %s to %s in %s: it %s", id, base, documents, format.Count(n, "test"), onDocuments[0].Says)
	}
	if n := len(onOthers); n > 0 {
		text += fmt.Sprintf("; to documents that are damaged in one place and to unusual values it answers otherwise in %d of %d tests", n, s.Cases)
	}
	text += "."
	if n := len(s.Differences) - len(unannounced); n > 0 {
		text += fmt.Sprintf(" Only in the text of an error: %d, which the release notes of Go 1.27 announce (%s).", n, releaseNotes)
	}
	if n := len(unannounced); n > 0 {
		text += fmt.Sprintf(" Not announced there: %d; in the first it %s.", n, unannounced[0].Says)
	}
	return text + a.describeRestored(id, s)
}

// describeRestored returns a sentence about differences that disappear with the former implementation,
// or "".
func (a ReleaseAdvice) describeRestored(id string, s *tare.Semantics) string {
	if !hasNewImplementation(id) {
		return ""
	}
	former := withFormer(id)
	remaining := a.findSemantics(former)
	switch {
	case former == a.Toolchains[0]: // has no differences from itself
		remaining = &tare.Semantics{}
	case remaining == nil:
		return ""
	}
	restored := 0
	for _, d := range s.Differences {
		if !slices.ContainsFunc(remaining.Differences, func(r tare.Difference) bool { return r.Op == d.Op && r.Case == d.Case }) {
			restored++
		}
	}
	all := fmt.Sprintf("%d of the %d", restored, len(s.Differences))
	if restored == len(s.Differences) {
		all = "all"
	}
	return fmt.Sprintf(" %s, it has the former answer in %s.", describeOption(id), all)
}

// SetAnswer sets the headline of the result: the cost and the outputs of the last selected release on
// the first workload.
func (a ReleaseAdvice) SetAnswer() {
	if len(a.Result.Workloads) == 0 {
		return
	}
	r := a.newAdviser(a.Result.Workloads[0])
	base, last := r.Baseline, a.Toolchains[len(a.Toolchains)-1]
	r.Reading.SetAnswer("release", base, "", nil) // sets the values below the headline
	measured := r.Measured()
	i := slices.IndexFunc(measured, func(c tare.Comparison) bool { return c.Contender == last })
	switch {
	case r.WhyNoAdvice() != "":
		return // the headline says why
	case i < 0:
		a.Result.Answer = fmt.Sprintf("No answer: %s was not compared with %s.", last, base)
		return
	}
	c := measured[i]
	text := fmt.Sprintf("%s %s in %s the time of %s", last, r.clause, format.Factor(c.Ratio), base)
	if !r.IsShown(c) {
		text = fmt.Sprintf("%s is not shown to differ in time from %s where it %s", last, base, r.clause)
	}
	s := a.findSemantics(last)
	switch {
	case s == nil: // not tested
	case slices.ContainsFunc(s.Differences, isOfDocument):
		text += ", with other answers to " + a.nameDocuments()
	default:
		text += ", with the same answers to " + a.nameDocuments()
	}
	a.Result.Answer = text + "."
}
