// Package explain implements tare explain. It explains names in reports of tare: checks, rules of tare
// audit, studies, programs under test, metrics, and words. For example, tare explain "not met" prints
// what these words of a verdict mean.
package explain

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/cmd/tare/internal/audit/rules"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/internal/check"
	"github.com/tarebench/tare/report"
)

type explanation struct {
	Kind  string `json:"kind"` // word, check, rule, metric, study, contender
	Name  string `json:"name"`
	Facts []fact `json:"facts"`
}

// fact is a labelled text, or a labelled list of texts.
type fact struct {
	Label string   `json:"label,omitempty"` // "" for the sentence that explains the name
	Text  []string `json:"text"`            // one text, or the items of the list
	Code  bool     `json:"code,omitempty"`  // the texts are lines of code
}

// Command returns tare explain.
func Command(env cmdenv.Env) *cobra.Command {
	var asJSON bool
	var dir string
	cmd := &cobra.Command{
		Use:   "explain THING",
		Short: "Explain a check, audit rule, study, contender, metric or word of the report",
		Example: `  tare explain wrong-answer
  tare explain json-encode
  tare explain input-consumed
  tare explain "not met"`,
		// Any number of words is one name. Without one, the error has a hint and commands to try
		// instead.
		Args: cmdenv.Needs(0, "a name", "e.g. tare explain control; tare list shows checks, studies, contenders and metrics", "tare explain control", "tare list"),
		ValidArgsFunction: func(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
			return slices.DeleteFunc(explainableNames(env, dir), func(n string) bool { return !strings.HasPrefix(n, start) }), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			name := strings.Join(args, " ")
			found, err := explainName(env, name, dir)
			if err != nil {
				return err
			}
			if len(found) == 0 {
				return cmdenv.Unknown("thing", name, explainableNames(env, dir), "tare list shows checks, studies, contenders and metrics", "tare list")
			}
			if asJSON {
				return cmdenv.PrintJSON(env.Out, found)
			}
			style := env.Style(env.Out)
			for i, e := range found {
				if i > 0 {
					fmt.Fprintln(env.Out)
				}
				e.writeText(env.Out, style)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&dir, "catalog", "", "`directory` of contenders; default: the repository's, else the built-in ones")
	return cmd
}

// explainName returns the explanations of everything called name, or nil. If the catalog cannot be
// read, that is an error only if nothing else has the name.
func explainName(env cmdenv.Env, name, dir string) ([]explanation, error) {
	var found []explanation
	for _, w := range listWords() {
		if w.Word == name {
			found = append(found, newExplanation("word", name, newFact("", w.Text)))
		}
	}
	for _, c := range slices.Concat(check.All(), benchstudy.Notes()) {
		if c.ID == name {
			found = append(found, explainCheck(c))
		}
	}
	for _, r := range rules.All() {
		if r.ID == name {
			found = append(found, explainRule(r))
		}
	}
	if m, ok := tare.MetricNamed(name); ok {
		found = append(found, newExplanation("metric", name,
			newFact("", m.Doc), newFact("unit", m.Unit), newFact("better", string(m.Direction)), newFact("in documents", m.Key)))
	}
	if slices.Contains(env.Bundled(), name) {
		file, err := env.ReadStudy(name)
		if err != nil {
			return nil, err
		}
		found = append(found, explainStudy(file.Study))
	}
	rows, err := env.Contenders(dir)
	if err != nil && len(found) == 0 {
		return nil, err
	}
	for _, c := range rows {
		if c.ID == name {
			found = append(found, explainContender(c))
		}
	}
	return found, nil
}

func explainableNames(env cmdenv.Env, dir string) []string {
	names := env.Bundled()
	for _, w := range listWords() {
		names = append(names, w.Word)
	}
	for _, c := range slices.Concat(check.All(), benchstudy.Notes()) {
		names = append(names, c.ID)
	}
	for _, r := range rules.All() {
		names = append(names, r.ID)
	}
	for _, m := range tare.Metrics() {
		names = append(names, m.Name)
	}
	rows, _ := env.Contenders(dir) // without a catalog the other names remain
	for _, c := range rows {
		names = append(names, c.ID)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func newExplanation(kind, name string, facts ...fact) explanation {
	return explanation{Kind: kind, Name: name, Facts: facts}
}

func newFact(label string, text ...string) fact { return fact{Label: label, Text: text} }

// newCode returns a fact with one text for each line of code.
func newCode(label, code string) fact {
	code = strings.TrimRight(strings.ReplaceAll(code, "\t", "    "), "\n")
	return fact{Label: label, Text: strings.Split(code, "\n"), Code: true}
}

func explainRule(r audit.Rule) explanation {
	e := newExplanation("rule", r.ID,
		newFact("", r.Title+" "+r.Why), newFact("severity", string(r.Severity)), newFact("what to do", r.Do), newFact("measure", r.Command),
		newCode("bad", r.Bad), newCode("good", r.Good))
	if len(r.Seen) > 0 { // places where the mistake was found
		e.Facts = append(e.Facts, newFact("seen", r.Seen...))
	}
	return e
}

func explainCheck(c check.Check) explanation {
	e := newExplanation("check", c.ID,
		newFact("", c.Summary), newFact("severity", string(c.Severity)), newFact("why", c.Why), newFact("what to do", c.Advice))
	if text := c.Traps(); text != "" { // contenders with a published mistake, which the check must find
		e.Facts = append(e.Facts, newFact("traps", text))
	}
	return e
}

func explainContender(c cmdenv.Contender) explanation {
	e := newExplanation("contender", c.ID, newFact("", c.Why), newFact("kind", c.Kind))
	if c.Trap {
		e.Facts = append(e.Facts, newFact("trap", "it repeats a published mistake; it is timed, never ranked"))
	}
	if len(c.Modules) > 0 {
		e.Facts = append(e.Facts, newFact("contains", c.Modules...))
	}
	if c.Unmaintained != "" {
		e.Facts = append(e.Facts, newFact("unmaintained", c.Unmaintained))
	}
	e.Facts = append(e.Facts, newFact("source", c.Dir))
	return e
}

func explainStudy(st tare.Study) explanation {
	var contenders, workloads, criteria, claims []string
	for _, c := range st.Contenders {
		contenders = append(contenders, describeEntry(c))
	}
	for _, w := range st.Workloads {
		workloads = append(workloads, describeWorkload(w))
	}
	for _, c := range st.Criteria {
		line := c.String()
		if c.Contender != "" {
			line = c.Contender + ": " + line
		}
		if c.Workload != "" {
			line += " on " + c.Workload
		}
		criteria = append(criteria, line)
	}
	for _, c := range st.Claims {
		claims = append(claims, fmt.Sprintf("%s %s: %s (%s)", c.ID, c.Contender, c.Statement, c.Source))
	}
	e := newExplanation("study", st.ID, newFact("", st.Question), newFact("kind", string(st.Kind)), newFact("baseline", st.Baseline))
	for _, f := range []fact{
		newFact("contenders", contenders...), newFact("workloads", workloads...), newFact("metrics", st.Metrics...),
		newFact("criteria", criteria...), newFact("claims", claims...),
	} {
		if len(f.Text) > 0 {
			e.Facts = append(e.Facts, f)
		}
	}
	return e
}

// describeEntry describes a contender of a study in one line.
func describeEntry(c tare.Entry) string {
	line := c.ID
	if len(c.With) > 0 {
		line += " with " + strings.Join(c.With, ", ")
	}
	if c.Go != "" {
		line += " built by " + c.Go
	}
	if c.Given != "" { // it is built from sources in a directory that the user must name
		line += " from a clone (--with-original)"
	}
	if len(c.Expect.Void) > 0 {
		line += " (expected void: " + strings.Join(c.Expect.Void, ", ") + ")"
	}
	return line
}

func describeWorkload(w tare.Workload) string {
	line := w.ID + ": " + w.Op
	if w.Fixture != "" {
		line += fmt.Sprintf(" %s, %d items", w.Fixture, w.N)
	}
	if w.File != "" {
		line += " " + w.File
	}
	if w.Heap > 0 {
		line += ", while " + cmdenv.BytesText(w.Heap) + " of heap are held"
	}
	return line
}

// maxJoined is the length in bytes below which texts are joined to one line.
const maxJoined = 60

// writeText writes one paragraph per fact, or a list if a fact has many texts.
func (e explanation) writeText(w io.Writer, style report.Style) {
	// LegibleAll makes foreign text safe for a terminal, but it removes indents. Code comes from tare's
	// own rules, so it is written from the original facts.
	originalFacts := e.Facts
	e = report.LegibleAll(e)
	fmt.Fprintf(w, "%s (%s)\n", cmdenv.Paint(style.Bold, e.Name), e.Kind)
	for i, f := range e.Facts {
		switch joined := strings.Join(f.Text, ", "); {
		case f.Code:
			fmt.Fprintf(w, "  %s:\n    %s\n", f.Label, strings.Join(originalFacts[i].Text, "\n    "))
		case f.Label == "":
			cmdenv.Paragraph(w, "  ", "  ", joined, style.Width)
		case len(f.Text) == 1 || len(joined) < maxJoined:
			cmdenv.Paragraph(w, "  ", "    ", f.Label+": "+joined, style.Width)
		default:
			fmt.Fprintf(w, "  %s:\n", f.Label)
			for _, t := range f.Text {
				cmdenv.Paragraph(w, "    ", "      ", t, style.Width)
			}
		}
	}
}
