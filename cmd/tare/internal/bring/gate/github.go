package gate

import (
	"fmt"
	"io"
	"strings"
)

// maxAnnotations limits the annotations of a kind: GitHub shows no more of one step.
const maxAnnotations = 10

// Annotations writes workflow commands that put what blocks a change, and rows that could not be
// decided, on the lines of the benchmarks
// (https://docs.github.com/actions/reference/workflow-commands-for-github-actions).
func Annotations(w io.Writer, rep Report) error {
	rep = rep.legibleCopy()
	var b strings.Builder
	count := map[string]int{}
	add := func(command, title, text string, at Place) {
		if count[command]++; count[command] > maxAnnotations {
			return
		}
		var where string
		if at.File != "" {
			where = fmt.Sprintf("file=%s,line=%d,", escapeProperty(at.File), max(1, at.Line))
		}
		fmt.Fprintf(&b, "::%s %stitle=%s::%s\n", command, where, escapeProperty(title), escapeData(text))
	}
	for _, r := range rep.Rows {
		command := rowSeverity(r, rep)
		if command == "" {
			continue
		}
		text := rep.rowTitle(r) + ": " + r.Sentence
		if r.Waived != nil {
			text += "; " + r.Waived.String()
		}
		add(command, "tare gate: "+rep.rowVerdict(r), text, Place{r.File, r.Line})
	}
	for _, l := range rep.Left {
		if command := rep.severityOfLeft(l); command != "" {
			add(command, "tare gate: not compared", rep.shortName(l.What)+": "+l.Why, Place{})
		}
	}
	for _, r := range rep.Remarks {
		if r.Severity == IsError || r.Severity == IsWarning {
			add(r.Severity, "tare gate", r.Text, r.Place)
		}
	}
	if rep.Outcome == Nothing {
		add("warning", "tare gate", rep.Sentence, Place{})
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// rowSeverity returns how GitHub annotates a row: error, warning, notice, or "" for not at all.
func rowSeverity(r Row, rep Report) string {
	switch {
	case rep.repeatsVoid(r), rep.Record: // what is recorded is on the branch already
		return ""
	case r.Waived != nil:
		return "notice"
	case r.Fails(rep.On):
		return "error"
	case r.Outcome == Open && rep.On == "warn":
		return "warning"
	}
	return ""
}

func escapeData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func escapeProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}

// Outputs writes what later steps of a workflow can read.
func Outputs(w io.Writer, rep Report, exit int) error {
	rep = rep.legibleCopy()
	_, err := fmt.Fprintf(w, "outcome=%s\nblocked=%t\nexit-code=%d\nsentence=%s\n",
		rep.Outcome, rep.Blocked, exit, rep.Sentence)
	return err
}
