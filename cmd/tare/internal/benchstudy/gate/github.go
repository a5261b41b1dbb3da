package gate

import (
	"fmt"
	"io"

	"github.com/tarebench/tare/cmd/tare/internal/annotation"
)

// WriteAnnotations writes GitHub workflow commands, such as ::error file=parse_test.go,line=12::….
// They annotate rows that block a change or could not be decided, skipped benchmarks and remarks.
func WriteAnnotations(w io.Writer, rep Report) error {
	rep = rep.legibleCopy()
	var list []annotation.Annotation
	add := func(command, title, text string, place Place) {
		list = append(list, annotation.Annotation{Command: command, Title: title, Text: text, File: place.File, Line: place.Line})
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
	for _, same := range groupByReason(rep.Skipped) { // GitHub shows few annotations of a step
		if command := rep.skippedSeverity(same[0]); command != "" {
			add(command, "tare gate: not compared", rep.describeSkipped(same), Place{})
		}
	}
	for _, r := range rep.Remarks {
		if r.Severity == SeverityError || r.Severity == SeverityWarning {
			add(r.Severity, "tare gate", r.Text, r.Place)
		}
	}
	if rep.Outcome == Nothing {
		add("warning", "tare gate", rep.Sentence, Place{})
	}
	return annotation.Write(w, list)
}

// rowSeverity returns the severity with which GitHub annotates a row: error, warning or notice. ""
// means no annotation.
func rowSeverity(r Row, rep Report) string {
	switch {
	case rep.repeatsVoid(r), rep.Record: // the change is merged already
		return ""
	case r.Waived != nil:
		return "notice"
	case r.Fails(rep.OnInconclusive):
		return "error"
	case r.Outcome == Open && rep.OnInconclusive == "warn":
		return "warning"
	}
	return ""
}

// WriteStepOutputs writes the outputs of a workflow step, as NAME=value.
func WriteStepOutputs(w io.Writer, rep Report, exit int) error {
	rep = rep.legibleCopy()
	_, err := fmt.Fprintf(w, "outcome=%s\nblocked=%t\nexit-code=%d\nsentence=%s\n",
		rep.Outcome, rep.Blocked, exit, rep.Sentence)
	return err
}
