package figures

import (
	"fmt"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// causeNotSeparated finds differences that are blamed on one of several causes.
func causeNotSeparated() rule {
	return rule{Rule: audit.Rule{
		ID: "cause-not-separated", Severity: tare.Warn,
		Title:   "A difference is put down to one cause, and the sides differ in several.",
		Why:     "A comparison of complete stacks measures all their differences at once: framework, protocol, encoding, client, connections, logs. Which of them it is only a side that differs in one of them shows.",
		Do:      "add sides that differ in one step each, and compare neighbours",
		Command: "tare run users",
		Bad:     "| stack | time |\n|---|---|\n| rpc | 100 µs |\n| rest | 400 µs |\n\nThe difference comes purely from the wire format.\n",
		Good:    "| stack | time |\n|---|---|\n| rpc | 100 µs |\n| rest | 400 µs |\n\nThe stacks differ in wire format, client and router.\n",
		Seen:    []string{"users", "ingest"},
	}, find: findCauseNotSeparated}
}

// singleCauseRE matches "The difference comes purely from".
var singleCauseRE = lazyregexp.New(`(?i)\b(?:difference|gap|overhead|advantage|improvement|speed-?up|gain|slowdown)s?\b` +
	`[^.]{0,40}\b(?:purely|solely|entirely|exclusively|only)\b` +
	`[^.]{0,15}\b(?:from|due to|because of|caused by|by|in)\b`)

var (
	// blameRE matches "JSON encoding seems to be the bottleneck".
	blameRE = lazyregexp.New(`(?i)\b(json|xml|yaml|protobuf|http|tls|sql|gc|log|i/o|regexp?|template)\b` + // JSON
		`\W{0,3}(?:handling|parsing|parser|encoding|decoding|serialization|marshal\w*|processing|validation|logging)?\b` + // encoding
		`[^.]{0,20}\b(?:seems?|is|was|appears?)\b` + // seems to be
		`[^.]{0,20}\b(?:slow|the bottleneck|the weakest|the most expensive|the slowest)\b`) // the bottleneck
	// partMeasuredRE matches a measurement of one part, such as a profile.
	partMeasuredRE = lazyregexp.New(`(?i)\b(?:without|no-?op|noop|null|discard\w*|empty|ablation|profil\w+|pprof|flame ?graph|perf|cpu time)\b`)
)

func findCauseNotSeparated(d *document, report reportFunc) {
	if len(d.figures) < 2 {
		return
	}
	findBlamedPart(d, report)
	for _, s := range d.sentences {
		if m := singleCauseRE.FindString(s.text); m != "" && !negationRE.MatchString(s.text) {
			report(s.line, fmt.Sprintf("%s: no side on the page differs from another in that alone, by what is on the page", quote(s.text)))
		}
	}
}

// findBlamedPart reports the first sentence that blames a part of the work for slow requests. It
// skips pages with a profile, or with a side without the part, which would support that.
func findBlamedPart(d *document, report reportFunc) {
	isPartMeasured := slices.ContainsFunc(d.figures, func(f figure) bool { return partMeasuredRE.MatchString(f.subject) })
	if isPartMeasured || len(d.reports) == 0 || d.hasText(partMeasuredRE) {
		return
	}
	for _, s := range d.sentences {
		if m := blameRE.FindString(stripMarks(s.text)); m != "" && !negationRE.MatchString(s.text) {
			report(s.line, fmt.Sprintf("%s: the figures are of complete requests, and the page has neither a side without that part nor a profile", quote(m)))
			return
		}
	}
}
