package tare

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Answer is one way to answer a study's question. The first of a study's answers whose condition
// holds and whose headline, or text, quotes only measured figures is printed.
type Answer struct {
	When     Ruling   `json:"when,omitempty"`     // how the criteria of Of came out together; "" if on any result
	Of       []string `json:"of,omitempty"`       // criteria, each as "CONTENDER WORKLOAD METRIC"; the contender * means all
	Ratio    string   `json:"ratio,omitempty"`    // a limit for the comparisons of Of, instead of their criteria, e.g. "<= 0.5"
	To       string   `json:"to,omitempty"`       // a workload: met if no change is shown from the comparisons of Of to it
	Headline string   `json:"headline,omitempty"` // at most 15 words, with figures in braces
	Figures  string   `json:"figures,omitempty"`  // the line below it; a part between semicolons is omitted if a figure is missing
	Text     string   `json:"text,omitempty"`     // a sentence or two, instead of Headline and Figures
}

// FigureForm is the form in which an answer quotes a figure.
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

	// Short forms, for headlines.
	FigureBrief   FigureForm = "brief"   // {CONTENDER WORKLOAD METRIC brief}: a predicate without an interval: uses 56 % more CPU
	FigureVoid    FigureForm = "void"    // {CONTENDER WORKLOAD METRIC void}: is void, if it is
	FigureFast    FigureForm = "fast"    // {CONTENDER WORKLOAD METRIC fast}: the inverse of the ratio: 1.8×
	FigureTimes   FigureForm = "times"   // {CONTENDER WORKLOAD METRIC times}: the ratio without its interval: 1.3×
	FigureLess    FigureForm = "less"    // {CONTENDER WORKLOAD METRIC less}: how much less than the baseline: 84 %
	FigureNoise   FigureForm = "noise"   // {WORKLOAD METRIC noise}: of the control: ±14 %
	FigureChanges FigureForm = "changes" // {CONTENDER changes}: test cases in which another value arrives
)

// figureKeywords is the number of words between the braces of a form that its last word
// names.
var figureKeywords = map[FigureForm]int{
	FigureWords: 4, FigureValue: 4, FigureBrief: 4, FigureVoid: 4, FigureFast: 4, FigureTimes: 4, FigureLess: 4,
	FigureLeast: 3, FigureNoise: 3, FigureShare: 3, FigureWhole: 2, FigureChanges: 2,
}

// figureForms lists the forms of figures, for messages.
const figureForms = "write {CONTENDER WORKLOAD METRIC}, or with words, value, brief, void, fast, times, less or to WORKLOAD at its end, {WORKLOAD METRIC least}, {WORKLOAD METRIC noise}, {DECOMPOSITION CONTENDER share}, {DECOMPOSITION whole} or {CONTENDER changes}"

// Figure is a measured number that an answer quotes. Only the fields of its
// form are set.
type Figure struct {
	Form          FigureForm
	Contender     string // of a share: the end of its step
	Workload      string
	Metric        string
	To            string // workload
	Decomposition string
}

// Quote names a comparison with the baseline that an answer quotes.
type Quote struct {
	Contender string `json:"contender"`
	Workload  string `json:"workload"`
	Metric    string `json:"metric"`
}

// AnswerPart is a piece of an answer: text, or a figure.
type AnswerPart struct {
	Text   string
	Figure *Figure
}

// Parts splits everything that the answer prints at its figures.
func (a Answer) Parts() ([]AnswerPart, error) { return SplitFigures(a.Text + a.Headline + a.Figures) }

// names reports whether the answer quotes a figure of one of the contenders, or is about one.
func (a Answer) names(contenders map[string]bool) bool {
	for _, comparison := range a.Of {
		if contender, _, _ := strings.Cut(comparison, " "); contenders[contender] {
			return true
		}
	}
	parts, _ := a.Parts() // Validate reports what cannot be split
	return slices.ContainsFunc(parts, func(p AnswerPart) bool { return p.Figure != nil && contenders[p.Figure.Contender] })
}

// SplitFigures splits a text at its figures. The errors are about field "text".
func SplitFigures(text string) ([]AnswerPart, error) {
	var out []AnswerPart
	for rest := text; rest != ""; {
		text, after, opened := strings.Cut(rest, "{")
		if strings.Contains(text, "}") {
			return nil, fieldError("", "a } without a {", figureForms)
		}
		if text != "" {
			out = append(out, AnswerPart{Text: text})
		}
		if !opened {
			break
		}
		inside, later, closed := strings.Cut(after, "}")
		if !closed {
			return nil, fieldError("", "a { without a }", figureForms)
		}
		f, ok := parseFigure(strings.Fields(inside))
		if !ok {
			return nil, fieldError("", fmt.Sprintf("{%s} is not a figure", inside), figureForms)
		}
		out, rest = append(out, AnswerPart{Figure: &f}), later
	}
	return out, nil
}

// parseFigure reads the words between braces.
func parseFigure(w []string) (Figure, bool) {
	if len(w) == 5 && w[3] == string(FigureTo) {
		return Figure{Form: FigureTo, Contender: w[0], Workload: w[1], Metric: w[2], To: w[4]}, true
	}
	f := Figure{}
	if n := len(w); n > 0 && figureKeywords[FigureForm(w[n-1])] == n {
		f.Form, w = FigureForm(w[n-1]), w[:n-1]
	}
	switch {
	case f.Form == FigureWhole:
		f.Decomposition = w[0]
	case f.Form == FigureShare:
		f.Decomposition, f.Contender = w[0], w[1]
	case f.Form == FigureChanges:
		f.Contender = w[0]
	case f.Form == FigureLeast || f.Form == FigureNoise:
		f.Workload, f.Metric = w[0], w[1]
	case len(w) == 3:
		f.Contender, f.Workload, f.Metric = w[0], w[1], w[2]
	default:
		return Figure{}, false
	}
	return f, true
}

// checkAnswer returns an error if something that an answer names is not in the study.
func (s *Study) checkAnswer(a Answer, works, seen map[string]bool) error {
	switch {
	case a.Text == "" && a.Headline == "":
		return fieldError("headline", "answer without a headline or a text", "e.g. headline: Gin {gin-new get/c10 cpu brief}")
	case a.Text != "" && a.Headline+a.Figures != "":
		return fieldError("text", "answer with a text and a headline", "keep one of them: figures belongs to a headline")
	}
	for _, printed := range [][2]string{{"text", a.Text}, {"headline", a.Headline}, {"figures", a.Figures}} {
		parts, err := SplitFigures(printed[1])
		if err != nil {
			return withPath(printed[0], err)
		}
		for _, p := range parts {
			if p.Figure == nil {
				continue
			}
			if err := s.checkFigure(*p.Figure, works, seen); err != nil {
				return withPath(printed[0], err)
			}
		}
	}
	if a.When == "" && len(a.Of) == 0 && a.Ratio == "" && a.To == "" {
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
			return withPath("ratio", err)
		}
	}
	if a.To != "" && (a.Ratio != "" || !works[a.To]) {
		return fieldError("to", fmt.Sprintf("%q, beside of, is not another workload to compare with", a.To), "name one of the study's workloads, and no ratio")
	}
	for i, of := range a.Of {
		if err := s.checkCondition(a, of, works, seen); err != nil {
			return withPath(fmt.Sprintf("of[%d]", i), err)
		}
	}
	return nil
}

// withPath returns err with the path of the field that contains the words.
func withPath(path string, err error) error {
	var f *FieldError
	if errors.As(err, &f) {
		return &FieldError{Path: path, What: f.What, Hint: f.Hint}
	}
	return err
}

// checkFigure returns an error if a figure is not one of the study's.
func (s *Study) checkFigure(f Figure, works, seen map[string]bool) error {
	if f.Decomposition != "" {
		claim := Claim{Decomposition: f.Decomposition}
		if f.Contender != "" {
			claim.Causes = []string{f.Contender}
		}
		return s.checkCauses("", claim)
	}
	if f.Form == FigureLeast && len(s.Metrics) > 0 && f.Metric != s.Metrics[0] {
		return fieldError("", fmt.Sprintf("nothing is ranked by %q", f.Metric), "only the first metric is: "+s.Metrics[0])
	}
	if f.Contender == s.Baseline && f.Form != FigureValue && f.Form != FigureLeast && f.Form != FigureNoise {
		return fieldError("", fmt.Sprintf("%q is the baseline, which has no ratio", f.Contender), "name another contender, or quote its value")
	}
	if err := s.checkReferences("", f.Contender, f.Workload, f.Metric, works, seen); err != nil {
		return err
	}
	for _, w := range s.Workloads {
		if (w.ID == f.Workload || w.ID == f.To) && f.Contender != "" && f.Contender != s.Baseline && !w.Asks(f.Contender) {
			return fieldError("", fmt.Sprintf("%s is not measured on %s", f.Contender, w.ID), "add it to the contenders of that workload")
		}
	}
	return s.checkReferences("", "", f.To, "", works, seen)
}

// Rule returns the limit that comparisons are compared with.
func (a Answer) Rule() (Rule, error) { return Criterion{Metric: "time", Ratio: a.Ratio}.Rule() }

// checkCondition returns an error unless of names a criterion of the study or, if the answer has a
// limit of its own, a comparison.
func (s *Study) checkCondition(a Answer, of string, works, seen map[string]bool) error {
	w := strings.Fields(of)
	if len(w) != 3 {
		return fieldError("", fmt.Sprintf("%q does not name a criterion", of), "write CONTENDER WORKLOAD METRIC, e.g. gin-new get/c10 cpu")
	}
	if a.Ratio != "" || a.To != "" {
		return s.checkFigure(Figure{Contender: w[0], Workload: w[1], Metric: w[2], To: a.To}, works, seen)
	}
	for _, c := range s.Criteria {
		if (c.Contender == "" || c.Contender == w[0] || w[0] == "*") && (c.Workload == "" || c.Workload == w[1]) && c.Metric == w[2] {
			if w[0] == "*" {
				w[0] = ""
			}
			return s.checkReferences("", w[0], w[1], w[2], works, seen)
		}
	}
	return fieldError("", fmt.Sprintf("no criterion is about %q", of), "name contender, workload and metric of one under criteria:, or add ratio: with a limit")
}
