package check

import (
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/evidence"
	"github.com/tarebench/tare/internal/format"
)

// This check compares a saved result with the machine and the contenders of today. For example, it
// notes that the result was measured with Go 1.17.

func stale() Check {
	return Check{
		ID:       "stale",
		Severity: tare.Note,
		Summary: "A stored result is true for the Go, the modules, the processor and the kernel with which it was measured. The check notes each of these that differs today, for the machine " +
			"and for every contender that is in both results. It skips values that a result does not contain, and contenders that are in only one of them.",
		Why:    "Results of Go 1.17 were quoted years later. Another version of a library, another compiler or another processor changes ratios by more than many of the differences that people argue about.",
		Advice: "run the study again before quoting the older result",
		Run: func(in Input) []tare.Finding {
			if in.Stored == nil {
				return nil
			}
			var out []tare.Finding
			compare := func(subject, then, now string) { // "" means unknown
				if then != "" && now != "" && then != now {
					out = append(out, tare.Finding{Message: fmt.Sprintf("%s was %s then and is %s now", subject, then, now)})
				}
			}
			compare("the processor", describeProcessor(in.Stored.Machine), describeProcessor(in.Machine))
			compare("the kernel", in.Stored.Machine.Kernel, in.Machine.Kernel)
			compared := map[[2]string]bool{} // pairs of Go versions
			for _, c := range in.Contenders {
				then, ok := in.Stored.Contender(c.ID)
				if !ok {
					continue
				}
				if versions := [2]string{then.Go, c.Go}; !compared[versions] { // one finding for all contenders
					compared[versions] = true
					compare("the Go that built the contenders", then.Go, c.Go)
				}
				if c.Role == tare.RoleControl {
					continue // the baseline again
				}
				for _, line := range modulesChanged(then.Modules, c.Modules) {
					out = append(out, tare.Finding{Contender: c.ID, Message: line})
				}
			}
			return out
		},
	}
}

// Stale returns notes about differences between the machines and contenders of two results: Go,
// module versions, processor, kernel. now may be a result that has only begun.
func Stale(old, now *tare.Result) []tare.Finding {
	return stale().runAndComplete(Input{Stored: old, Machine: now.Machine, Evidence: evidence.Evidence{Contenders: now.Contenders}})
}

func describeProcessor(m tare.Machine) string {
	if m.CPU == "" {
		return ""
	}
	return fmt.Sprintf("%s (%s, %s)", m.CPU, m.Arch, format.Count(m.Cores, "core"))
}

// modulesChanged returns a sentence for each module that changed version, appeared or disappeared.
// It returns nil if one side lists no modules.
func modulesChanged(then, now []tare.Module) []string {
	if len(then) == 0 || len(now) == 0 {
		return nil
	}
	versions := func(ms []tare.Module) map[string]string {
		byPath := map[string]string{}
		for _, m := range ms {
			byPath[m.Path] = m.Version
			if m.Replace != "" {
				byPath[m.Path] += " (replaced by " + m.Replace + ")"
			}
		}
		return byPath
	}
	oldVersions, newVersions := versions(then), versions(now)
	var out []string
	for _, m := range now {
		switch v, ok := oldVersions[m.Path]; {
		case !ok:
			out = append(out, fmt.Sprintf("%s %s is linked now and was not then", m.Path, newVersions[m.Path]))
		case v != newVersions[m.Path]:
			out = append(out, fmt.Sprintf("%s was %s then and is %s now", m.Path, v, newVersions[m.Path]))
		}
	}
	for _, m := range then {
		if _, ok := newVersions[m.Path]; !ok {
			out = append(out, fmt.Sprintf("%s %s was linked then and is not now", m.Path, oldVersions[m.Path]))
		}
	}
	return out
}
