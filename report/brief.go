package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/tarebench/tare"
)

// Brief writes what r comes to for a reader at a terminal: the question, the
// verdicts and each workload's contenders in their order, without what they rest
// on. The error is the writer's.
func Brief(w io.Writer, r *tare.Result, s Style) error {
	p := opened(r, s)
	p.section(filled(KeyVerdict, verdictHeading, func(s *Section) { s.verdicts(r) }))
	for _, work := range r.Workloads {
		if text := look(r, work.ID, map[string]bool{}).placed(s); text != "" {
			p.labelled("ORDER", rulingWidth, Bold, text)
		}
	}
	if open := found(r); len(open) > 0 {
		p.labelled("CHECKS", rulingWidth, Warned, plural(len(open), "finding")+" to read before anything of this is repeated elsewhere")
	}
	if text := trapOutcomes(r); text != "" {
		p.labelled("TRAPS", rulingWidth, Bold, text)
	}
	p.labelled("", rulingWidth, Dim, "Tables, findings, machine and seed: tare report "+oneLine(r.Study))
	return send(w, p.b.String())
}

// placed is the order of the ranked contenders with their ratios, in one
// sentence; letters name the groups within which no difference is significant. It is
// empty where nobody but the baseline is ranked.
func (v *view) placed(s Style) string {
	metric := v.leading()
	var parts []string
	for _, c := range v.ranked {
		by := s.visible(v.ratioOf(c, metric, func(x tare.Comparison) string { return ratio(x.Ratio) })).Text
		_, letters, _ := strings.Cut(v.rankCell(c).Text, " ")
		parts = append(parts, strings.TrimSpace(c.Title()+" "+by+" "+letters))
	}
	if len(parts) < 2 {
		return ""
	}
	return fmt.Sprintf("%s / %s on %s: %s.", metric, v.baseline, v.workload, strings.Join(parts, ", "))
}
