package project

import (
	"fmt"
	"strings"
	"time"

	"github.com/tarebench/tare/internal/format"
)

// Rule is a setting of a gate, the check of a change against its base: its key in tare.yaml, e.g.
// gate.margin, and its value. A gate reports rules that differ between base and head.
type Rule struct{ Key, Value string }

func formatInstructions(g Gate) string {
	if g.Instructions == 0 {
		return ""
	}
	return format.Percent(g.Instructions)
}

// Rules returns all settings that decide which measurements a gate takes and which results block a
// change. Two projects with equal rules have equal gates.
func (p Project) Rules() []Rule {
	list := func(values []string) string { return strings.Join(values, ", ") }
	listPaths := func(files []File) string {
		var paths []string
		for _, f := range files {
			paths = append(paths, f.Path)
		}
		return list(paths)
	}
	var servers, margins, waivers []string
	for _, s := range p.Load {
		s.Place = Place{} // the position in the file is not a setting
		servers = append(servers, fmt.Sprintf("%+v", s))
	}
	for _, m := range p.Gate.Margins {
		margins = append(margins, strings.TrimSpace(fmt.Sprintf("%s of %s %s", format.Percent(m.Share), m.Benchmark, m.Metric)))
	}
	for _, w := range p.Accept {
		waivers = append(waivers, fmt.Sprintf("%s %s until %s (%s)", w.Benchmark, w.Metric, w.Last(), w.Reason))
	}
	formatLimit := func(d time.Duration) string {
		if d == 0 {
			return ""
		}
		return d.String()
	}
	return []Rule{
		{"bench.packages", list(p.Bench.Packages)},
		{"bench.run", p.Bench.Run},
		{"bench.tags", list(p.Bench.Tags)},
		{"bench.env", list(p.Bench.Env)},
		{"bench.budget", formatLimit(p.Bench.Budget)},
		{"bench.max", formatLimit(p.Bench.Max)},
		{"studies", listPaths(p.Studies)},
		{"json", listPaths(p.JSON)},
		{"routes", listPaths(p.Routes)},
		{"load", list(servers)},
		{"gate.base", p.Gate.Base},
		{"gate.margin", format.Percent(p.Gate.Margin)},
		{"gate.margins", list(margins)},
		{"gate.alpha", format.Percent(p.Gate.Alpha)},
		{"gate.metrics", list(p.Gate.Metrics)},
		{"gate.instructions", formatInstructions(p.Gate)},
		{"gate.allocs", string(p.Gate.Allocs)},
		{"gate.on_inconclusive", string(p.Gate.OnInconclusive)},
		{"gate.review", p.Gate.Review},
		{"gate.reference", p.Gate.Reference},
		{"accept", list(waivers)},
	}
}
