package project

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare/internal/format"
)

// PolicyChanges says, a line each, how what lets a change pass is another one in now
// than it was: a change that loosens it is to be seen to do so.
func PolicyChanges(was, now Project) []string {
	var out []string
	differ := func(key, was, now string) {
		if was != now {
			out = append(out, fmt.Sprintf("%s is %s, in the base %s", key, orNone(now), orNone(was)))
		}
	}
	differ("bench.packages", strings.Join(was.Bench.Packages, ", "), strings.Join(now.Bench.Packages, ", "))
	differ("bench.run", was.Bench.Run, now.Bench.Run)
	differ("gate.margin", format.Percent(was.Gate.Margin), format.Percent(now.Gate.Margin))
	differ("gate.margins", margins(was.Gate), margins(now.Gate))
	differ("gate.alpha", format.Percent(was.Gate.Alpha), format.Percent(now.Gate.Alpha))
	differ("gate.metrics", strings.Join(was.Gate.Metrics, ", "), strings.Join(now.Gate.Metrics, ", "))
	differ("gate.allocs", string(was.Gate.Allocs), string(now.Gate.Allocs))
	differ("gate.on_inconclusive", string(was.Gate.OnInconclusive), string(now.Gate.OnInconclusive))
	before, after := limits(was), limits(now)
	for _, id := range before.ids {
		differ("load "+id, before.of[id], after.of[id])
	}
	accepted := func(p Project) (list []string) {
		for _, w := range p.Accept {
			list = append(list, fmt.Sprintf("%s until %s: %s", covered(pattern(w), w.Metric), w.Last(), w.Reason))
		}
		return list
	}
	old := accepted(was)
	for _, w := range accepted(now) {
		if !slices.Contains(old, w) {
			out = append(out, "accept has a waiver that the base has not: "+w)
		}
	}
	return out
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

func pattern(w Waiver) string {
	if w.Benchmark == nil {
		return ""
	}
	return w.Benchmark.String()
}

// covered is what a margin or a waiver is for.
func covered(benchmark, metric string) string {
	switch {
	case benchmark == "" && metric == "":
		return "everything"
	case metric == "":
		return benchmark
	case benchmark == "":
		return metric
	}
	return benchmark + " (" + metric + ")"
}

func margins(g Gate) string {
	var list []string
	for _, m := range g.Margins {
		benchmark := ""
		if m.Benchmark != nil {
			benchmark = m.Benchmark.String()
		}
		list = append(list, covered(benchmark, m.Metric)+" "+format.Percent(m.Share))
	}
	return strings.Join(list, ", ")
}

// limited is what servers are held to, by id.
type limited struct {
	ids []string // in the order of the file
	of  map[string]string
}

func limits(p Project) limited {
	l := limited{of: map[string]string{}}
	for _, s := range p.Load {
		var list []string
		for _, o := range s.SLO {
			list = append(list, fmt.Sprintf("%s<%s", o.Metric, time.Duration(o.Limit)))
		}
		text := "without limits"
		if len(list) > 0 {
			text = "held to " + strings.Join(list, ", ")
		}
		l.ids, l.of[s.ID] = append(l.ids, s.ID), text
	}
	return l
}
