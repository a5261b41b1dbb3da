package figures

import (
	"fmt"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// notDropIn finds "drop-in replacements" with different output.
func notDropIn() rule {
	return rule{Rule: audit.Rule{
		ID: "not-drop-in", Severity: tare.Warn,
		Title:   "A side is called a drop-in replacement, and its output differs according to the text.",
		Why:     "Sides with different output do different work: what is missing is often what takes the time.",
		Do:      "compare the outputs on odd values (floats, escapes, empty and nil), and measure the configuration whose output is equal",
		Command: "tare json FILE",
		Bad:     "| codec | time |\n|---|---|\n| plain | 90 µs |\n| fast | 45 µs |\n\nThe fast codec is a drop-in replacement. It has different float precision in edge cases.\n",
		Good:    "| codec | time |\n|---|---|\n| plain | 90 µs |\n| fast | 45 µs |\n\nThe fast codec is a drop-in replacement.\n",
		Seen:    []string{"json-encode"},
	}, find: findNotDropIn}
}

// dropInRE matches "drop-in", and outputDiffersRE "different float precision".
var (
	dropInRE        = lazyregexp.New(`(?i)\bdrop-?\s?in\b|\bworks identically\b|\b100\s?% compatible\b`)
	outputDiffersRE = lazyregexp.New(`(?i)\b(?:different|differs? in|loses?|lossy|reduced)\b[^.]{0,30}\b(?:precision|escap\w+|ordering|rounding|float\w*|output)\b`)
)

// findNotDropIn reports the first sentence that calls a side a drop-in replacement, if another
// sentence states that an output differs.
func findNotDropIn(d *document, report reportFunc) {
	if len(d.figures) < 2 {
		return
	}
	i := slices.IndexFunc(d.sentences, func(s sentence) bool { return outputDiffersRE.MatchString(s.text) })
	if i < 0 {
		return
	}
	differs := d.sentences[i]
	for _, s := range d.sentences {
		if dropInRE.MatchString(s.text) && !negationRE.MatchString(s.text) {
			report(s.line, fmt.Sprintf("%s, and line %d says %s", quote(dropInRE.FindString(s.text)), differs.line, quote(outputDiffersRE.FindString(differs.text))))
			return
		}
	}
}
