package tare

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Answer is one possible answer to a study's question, such as "Yes: chi takes {chi static time
// less} less time". Braces mark a measured figure. The report prints the first answer that fits:
// its condition holds, and all of its figures were measured. The condition consists of When, Of,
// Ratio and To.
type Answer struct {
	When     Ruling   `json:"when,omitempty"`     // the answer is printed if this is the worst ruling on Of; "" means no condition
	Of       []string `json:"of,omitempty"`       // names of criteria, each as "CONTENDER WORKLOAD METRIC"; * means all contenders
	Ratio    string   `json:"ratio,omitempty"`    // limit for the ratios that Of names, instead of criteria, e.g. "<= 0.5"
	To       string   `json:"to,omitempty"`       // another workload, on which the ratios that Of names must be the same
	Headline string   `json:"headline,omitempty"` // at most 15 words, e.g. Gin {gin-new get/c10 cpu brief}
	Figures  string   `json:"figures,omitempty"`  // line below the headline; a part between semicolons is omitted if one of its figures is missing
	Text     string   `json:"text,omitempty"`     // a sentence or two, instead of Headline and Figures
}

// FigureForm is the form in which an answer quotes a figure.
type FigureForm string

// Forms. Each comment shows the syntax in an answer, and the output.
const (
	FigureRatio FigureForm = ""      // {CONTENDER WORKLOAD METRIC}: 1.24× (1.19 to 1.30), against the baseline
	FigureWords FigureForm = "words" // {CONTENDER WORKLOAD METRIC words}: a predicate, e.g. takes 1.24× (1.19 to 1.30) the time of nethttp
	FigureValue FigureForm = "value" // {CONTENDER WORKLOAD METRIC value}: 31.2 MB (30.1 MB to 33 MB)
	FigureTo    FigureForm = "to"    // {CONTENDER WORKLOAD METRIC to WORKLOAD}: the ratios on both workloads
	FigureLeast FigureForm = "least" // {WORKLOAD METRIC least}: the contenders that can have the first rank
	FigureShare FigureForm = "share" // {DECOMPOSITION CONTENDER share}: the share of the step that leads to CONTENDER
	FigureWhole FigureForm = "whole" // {DECOMPOSITION whole}: the total ratio
	FigureClaim FigureForm = "claim" // {CLAIM claim}: published and measured factor, and whether they agree
	FigureHere  FigureForm = "here"  // {CLAIM here}: the measured factor of the claim, for conditions that were not published

	// For headlines.
	FigureBrief   FigureForm = "brief"   // {CONTENDER WORKLOAD METRIC brief}: uses 56 % more CPU
	FigureVoid    FigureForm = "void"    // {CONTENDER WORKLOAD METRIC void}: is void; missing if the ratio is valid
	FigureFast    FigureForm = "fast"    // {CONTENDER WORKLOAD METRIC fast}: 1.8×, the inverse of the ratio
	FigureTimes   FigureForm = "times"   // {CONTENDER WORKLOAD METRIC times}: 1.3×
	FigureLess    FigureForm = "less"    // {CONTENDER WORKLOAD METRIC less}: 84 %, the part of the baseline's value that is saved
	FigureNoise   FigureForm = "noise"   // {WORKLOAD METRIC noise}: ±14 %, the noise floor
	FigureChanges FigureForm = "changes" // {CONTENDER changes}: number of test cases with a wrong value
	FigureFactor  FigureForm = "factor"  // {CLAIM factor}: 2.7×, as measured
)

// figureWords is the number of words between the braces, for forms that end with their name.
var figureWords = map[FigureForm]int{
	FigureWords: 4, FigureValue: 4, FigureBrief: 4, FigureVoid: 4, FigureFast: 4, FigureTimes: 4, FigureLess: 4,
	FigureLeast: 3, FigureNoise: 3, FigureShare: 3, FigureWhole: 2, FigureChanges: 2,
	FigureClaim: 2, FigureHere: 2, FigureFactor: 2,
}

const figureForms = "write {CONTENDER WORKLOAD METRIC}, or with words, value, brief, void, fast, times, less or to WORKLOAD at its end, {WORKLOAD METRIC least}, {WORKLOAD METRIC noise}, {DECOMPOSITION CONTENDER share}, {DECOMPOSITION whole}, {CONTENDER changes}, {CLAIM claim}, {CLAIM here} or {CLAIM factor}"

// Figure is a measured number that an answer quotes. Only the fields of its form are set.
type Figure struct {
	Form          FigureForm
	Contender     string // for FigureShare: the contender at the end of the step
	Workload      string
	Metric        string
	To            string // for FigureTo: the other workload
	Decomposition string // id
	Claim         string // id
}

// Quote names a comparison with the baseline that an answer quotes.
type Quote struct {
	Contender string `json:"contender"`
	Workload  string `json:"workload"`
	Metric    string `json:"metric"`
}

// AnswerPart is a part of an answer: text, or a figure.
type AnswerPart struct {
	Text   string
	Figure *Figure // nil if the part is text
}

// Parts splits Text, Headline and Figures into text and figures.
func (a Answer) Parts() ([]AnswerPart, error) { return SplitFigures(a.Text + a.Headline + a.Figures) }

func (a Answer) quotesAny(contenders map[string]bool) bool {
	for _, comparison := range a.Of {
		if contender, _, _ := strings.Cut(comparison, " "); contenders[contender] {
			return true
		}
	}
	parts, _ := a.Parts() // Validate reports the error
	return slices.ContainsFunc(parts, func(p AnswerPart) bool { return p.Figure != nil && contenders[p.Figure.Contender] })
}

// SplitFigures splits text into its figures, which are in braces, and the text between them. If a
// brace is missing or a figure is malformed, it returns a *FieldError without a path.
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
		inside, remainder, closed := strings.Cut(after, "}")
		if !closed {
			return nil, fieldError("", "a { without a }", figureForms)
		}
		f, ok := parseFigure(strings.Fields(inside))
		if !ok {
			return nil, fieldError("", fmt.Sprintf("{%s} is not a figure", inside), figureForms)
		}
		out, rest = append(out, AnswerPart{Figure: &f}), remainder
	}
	return out, nil
}

func parseFigure(words []string) (Figure, bool) {
	if len(words) == 5 && words[3] == string(FigureTo) {
		return Figure{Form: FigureTo, Contender: words[0], Workload: words[1], Metric: words[2], To: words[4]}, true
	}
	f := Figure{}
	if n := len(words); n > 0 && figureWords[FigureForm(words[n-1])] == n {
		f.Form, words = FigureForm(words[n-1]), words[:n-1]
	}
	switch {
	case f.Form == FigureWhole:
		f.Decomposition = words[0]
	case f.Form == FigureShare:
		f.Decomposition, f.Contender = words[0], words[1]
	case f.Form == FigureChanges:
		f.Contender = words[0]
	case f.Form == FigureClaim || f.Form == FigureHere || f.Form == FigureFactor:
		f.Claim = words[0]
	case f.Form == FigureLeast || f.Form == FigureNoise:
		f.Workload, f.Metric = words[0], words[1]
	case len(words) == 3:
		f.Contender, f.Workload, f.Metric = words[0], words[1], words[2]
	default:
		return Figure{}, false
	}
	return f, true
}

func (s *Study) checkAnswer(a Answer, workloads, contenders map[string]bool) error {
	switch {
	case a.Text == "" && a.Headline == "":
		return fieldError("headline", "answer without a headline or a text", "e.g. headline: Gin {gin-new get/c10 cpu brief}")
	case a.Text != "" && a.Headline+a.Figures != "":
		return fieldError("text", "answer with a text and a headline", "keep one of them: figures belongs to a headline")
	}
	for _, field := range []struct{ name, text string }{{"text", a.Text}, {"headline", a.Headline}, {"figures", a.Figures}} {
		parts, err := SplitFigures(field.text)
		if err != nil {
			return withPath(field.name, err)
		}
		for _, p := range parts {
			if p.Figure == nil {
				continue
			}
			if err := s.checkFigure(*p.Figure, workloads, contenders); err != nil {
				return withPath(field.name, err)
			}
		}
	}
	if hasCondition := a.When != "" || len(a.Of) > 0 || a.Ratio != "" || a.To != ""; hasCondition {
		return s.checkConditions(a, workloads, contenders)
	}
	return nil
}

// checkConditions returns an error if the condition of an answer is incomplete or cannot hold.
func (s *Study) checkConditions(a Answer, workloads, contenders map[string]bool) error {
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
	if a.To != "" && (a.Ratio != "" || !workloads[a.To]) {
		return fieldError("to", fmt.Sprintf("%q, next to of, is not another workload to compare with", a.To), "name one of the study's workloads, and no ratio")
	}
	for i, criterion := range a.Of {
		if err := s.checkCondition(a, criterion, workloads, contenders); err != nil {
			return withPath(fmt.Sprintf("of[%d]", i), err)
		}
	}
	return nil
}

func withPath(path string, err error) error {
	var f *FieldError
	if errors.As(err, &f) {
		return &FieldError{Path: path, What: f.What, Hint: f.Hint}
	}
	return err
}

// checkFigure returns an error without a path if the study cannot have figure f.
func (s *Study) checkFigure(f Figure, workloads, contenders map[string]bool) error {
	if f.Decomposition != "" {
		claim := Claim{Decomposition: f.Decomposition}
		if f.Contender != "" {
			claim.Causes = []string{f.Contender}
		}
		return s.checkCauses("", claim)
	}
	if f.Claim != "" {
		hasFigures := func(c Claim) bool { return c.ID == f.Claim && c.Kind == ClaimRatio && !c.Directed() }
		if !slices.ContainsFunc(s.Claims, hasFigures) {
			return fieldError("", fmt.Sprintf("no claim %q with published figures", f.Claim), "name a claim of kind ratio that has baseline and value")
		}
		return nil
	}
	if f.Form == FigureLeast && len(s.Metrics) > 0 && f.Metric != s.Metrics[0] {
		return fieldError("", fmt.Sprintf("nothing is ranked by %q", f.Metric), "only the first metric is: "+s.Metrics[0])
	}
	isRatio := f.Form != FigureValue && f.Form != FigureLeast && f.Form != FigureNoise
	if isRatio && f.Contender == s.Baseline {
		return fieldError("", fmt.Sprintf("%q is the baseline, which has no ratio", f.Contender), "name another contender, or quote its value")
	}
	if err := s.checkReferences("", f.Contender, f.Workload, f.Metric, workloads, contenders); err != nil {
		return err
	}
	for _, w := range s.Workloads {
		isNamed := w.ID == f.Workload || w.ID == f.To
		if isNamed && f.Contender != "" && f.Contender != s.Baseline && !w.Asks(f.Contender) {
			return fieldError("", fmt.Sprintf("%s is not measured on %s", f.Contender, w.ID), "add it to the contenders of that workload")
		}
	}
	return s.checkReferences("", "", f.To, "", workloads, contenders)
}

// Rule parses Ratio.
func (a Answer) Rule() (Rule, error) { return Criterion{Metric: "time", Ratio: a.Ratio}.Rule() }

func (s *Study) checkCondition(a Answer, name string, workloads, contenders map[string]bool) error {
	words := strings.Fields(name)
	if len(words) != 3 {
		return fieldError("", fmt.Sprintf("%q does not name a criterion", name), "write CONTENDER WORKLOAD METRIC, e.g. gin-new get/c10 cpu")
	}
	contender, workload, metric := words[0], words[1], words[2]
	if a.Ratio != "" || a.To != "" {
		return s.checkFigure(Figure{Contender: contender, Workload: workload, Metric: metric, To: a.To}, workloads, contenders)
	}
	for _, c := range s.Criteria {
		coversContender := c.Contender == "" || c.Contender == contender || contender == "*"
		coversWorkload := c.Workload == "" || c.Workload == workload
		if coversContender && coversWorkload && c.Metric == metric {
			if contender == "*" {
				contender = ""
			}
			return s.checkReferences("", contender, workload, metric, workloads, contenders)
		}
	}
	return fieldError("", fmt.Sprintf("no criterion is about %q", name), "name contender, workload and metric of one under criteria:, or add ratio: with a limit")
}
