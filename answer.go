package tare

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Answer is one way to answer a study's question. The first of a study's
// answers whose condition holds and whose figures were all measured is the
// headline of the result.
type Answer struct {
	When  Ruling   `json:"when,omitempty"`  // how the criteria of Of came out together; empty: on any result
	Of    []string `json:"of,omitempty"`    // criteria, each as "CONTENDER WORKLOAD METRIC"; the contender * is all of them
	Ratio string   `json:"ratio,omitempty"` // a limit for the comparisons of Of, instead of their criteria, e.g. "<= 0.5"
	Text  string   `json:"text"`            // a sentence or two, with figures in braces
}

// FigureForm is how an answer quotes a figure.
type FigureForm string

// Forms, with how they are written in an answer.
const (
	FigureRatio FigureForm = ""      // {CONTENDER WORKLOAD METRIC}: 1.24× (1.19 to 1.30), against the baseline
	FigureWords FigureForm = "words" // {CONTENDER WORKLOAD METRIC words}: a predicate that follows from the interval
	FigureValue FigureForm = "value" // {CONTENDER WORKLOAD METRIC value}: 31.2 MB (30.1 MB to 33 MB)
	FigureTo    FigureForm = "to"    // {CONTENDER WORKLOAD METRIC to WORKLOAD}: one ratio, the other, and whether they differ
	FigureLeast FigureForm = "least" // {WORKLOAD METRIC least}: who can be first by the primary metric
	FigureShare FigureForm = "share" // {DECOMPOSITION CONTENDER share}: of the step that leads to CONTENDER
	FigureWhole FigureForm = "whole" // {DECOMPOSITION whole}: the ratio that is decomposed
)

// figureForms says how figures are written, for messages.
const figureForms = "write {CONTENDER WORKLOAD METRIC}, or with words, value or to WORKLOAD at its end, {WORKLOAD METRIC least}, {DECOMPOSITION CONTENDER share} or {DECOMPOSITION whole}"

// Figure is a measured number that an answer quotes. Only the fields of its
// form are set.
type Figure struct {
	Form          FigureForm
	Contender     string // of a share: where its step leads
	Workload      string
	Metric        string
	To            string // workload
	Decomposition string
}

// AnswerPart is a piece of an answer: text, or a figure.
type AnswerPart struct {
	Text   string
	Figure *Figure
}

// Parts splits the text of an answer at its figures.
func (a Answer) Parts() ([]AnswerPart, error) {
	var out []AnswerPart
	for rest := a.Text; rest != ""; {
		text, after, opened := strings.Cut(rest, "{")
		if strings.Contains(text, "}") {
			return nil, fieldError("text", "a } without a {", figureForms)
		}
		if text != "" {
			out = append(out, AnswerPart{Text: text})
		}
		if !opened {
			break
		}
		inside, later, closed := strings.Cut(after, "}")
		if !closed {
			return nil, fieldError("text", "a { without a }", figureForms)
		}
		f, ok := figure(strings.Fields(inside))
		if !ok {
			return nil, fieldError("text", fmt.Sprintf("{%s} is not a figure", inside), figureForms)
		}
		out, rest = append(out, AnswerPart{Figure: &f}), later
	}
	return out, nil
}

// figure reads the words between braces.
func figure(w []string) (Figure, bool) {
	last := ""
	if len(w) > 0 {
		last = w[len(w)-1]
	}
	switch {
	case len(w) == 2 && last == string(FigureWhole):
		return Figure{Form: FigureWhole, Decomposition: w[0]}, true
	case len(w) == 3 && last == string(FigureShare):
		return Figure{Form: FigureShare, Decomposition: w[0], Contender: w[1]}, true
	case len(w) == 3 && last == string(FigureLeast):
		return Figure{Form: FigureLeast, Workload: w[0], Metric: w[1]}, true
	case len(w) == 3:
		return Figure{Contender: w[0], Workload: w[1], Metric: w[2]}, true
	case len(w) == 4 && (last == string(FigureWords) || last == string(FigureValue)):
		return Figure{Form: FigureForm(last), Contender: w[0], Workload: w[1], Metric: w[2]}, true
	case len(w) == 5 && w[3] == string(FigureTo):
		return Figure{Form: FigureTo, Contender: w[0], Workload: w[1], Metric: w[2], To: w[4]}, true
	}
	return Figure{}, false
}

// answerable reports whether everything that an answer names is in the study.
func (s *Study) answerable(a Answer, works, seen map[string]bool) error {
	if a.Text == "" {
		return fieldError("text", "answer without a text", "e.g. text: Gin takes {gin-new get/c10 cpu} the CPU time of net/http")
	}
	parts, err := a.Parts()
	if err != nil {
		return err
	}
	for _, p := range parts {
		if p.Figure == nil {
			continue
		}
		if err := s.quotes(*p.Figure, works, seen); err != nil {
			return in("text", err)
		}
	}
	if a.When == "" && len(a.Of) == 0 && a.Ratio == "" {
		return nil
	}
	if !slices.Contains([]Ruling{Met, NotMet, Inconclusive, VoidRuling}, a.When) {
		return fieldError("when", fmt.Sprintf("unknown criterion result %q", a.When), "known: met, not met, inconclusive, void")
	}
	if len(a.Of) == 0 {
		return fieldError("when", "a condition without of", "name the criteria, e.g. of: gin-new get/c10 cpu")
	}
	if a.Ratio != "" {
		if _, err := a.Rule(); err != nil {
			return in("ratio", err)
		}
	}
	for i, of := range a.Of {
		if err := s.conditional(a, of, works, seen); err != nil {
			return in(fmt.Sprintf("of[%d]", i), err)
		}
	}
	return nil
}

// in is err at a field that the words it is about stand in.
func in(path string, err error) error {
	var f *FieldError
	if errors.As(err, &f) {
		return &FieldError{Path: path, What: f.What, Hint: f.Hint}
	}
	return err
}

// quotes reports whether a figure is one of the study's.
func (s *Study) quotes(f Figure, works, seen map[string]bool) error {
	if f.Decomposition != "" {
		claim := Claim{Decomposition: f.Decomposition}
		if f.Contender != "" {
			claim.Causes = []string{f.Contender}
		}
		return s.tells("", claim)
	}
	if f.Form == FigureLeast && len(s.Metrics) > 0 && f.Metric != s.Metrics[0] {
		return fieldError("", fmt.Sprintf("nothing is ranked by %q", f.Metric), "only the first metric is: "+s.Metrics[0])
	}
	if f.Contender == s.Baseline && f.Form != FigureValue && f.Form != FigureLeast {
		return fieldError("", fmt.Sprintf("%q is the baseline, which has no ratio", f.Contender), "name another contender, or quote its value")
	}
	if err := s.refers("", f.Contender, f.Workload, f.Metric, works, seen); err != nil {
		return err
	}
	for _, w := range s.Workloads {
		if (w.ID == f.Workload || w.ID == f.To) && f.Contender != "" && f.Contender != s.Baseline && !w.Asks(f.Contender) {
			return fieldError("", fmt.Sprintf("%s is not measured on %s", f.Contender, w.ID), "add it to the contenders of that workload")
		}
	}
	return s.refers("", "", f.To, "", works, seen)
}

// Rule is the limit that comparisons are compared with.
func (a Answer) Rule() (Rule, error) { return Criterion{Metric: "time", Ratio: a.Ratio}.Rule() }

// conditional reports whether of names a criterion of the study or, where the
// answer has a limit of its own, a comparison.
func (s *Study) conditional(a Answer, of string, works, seen map[string]bool) error {
	w := strings.Fields(of)
	if len(w) != 3 {
		return fieldError("", fmt.Sprintf("%q does not name a criterion", of), "write CONTENDER WORKLOAD METRIC, e.g. gin-new get/c10 cpu")
	}
	if a.Ratio != "" {
		return s.quotes(Figure{Contender: w[0], Workload: w[1], Metric: w[2]}, works, seen)
	}
	for _, c := range s.Criteria {
		if (c.Contender == "" || c.Contender == w[0] || w[0] == "*") && (c.Workload == "" || c.Workload == w[1]) && c.Metric == w[2] {
			if w[0] == "*" {
				w[0] = ""
			}
			return s.refers("", w[0], w[1], w[2], works, seen)
		}
	}
	return fieldError("", fmt.Sprintf("no criterion is about %q", of), "name contender, workload and metric of one under criteria:, or add ratio: with a limit")
}
