package check

import (
	"fmt"

	"github.com/tarebench/tare"
)

// This check finds contenders that allocate less memory than their results need. For example, a
// copier returns a new struct of 88 bytes and allocates 64: it does not copy the struct.

func allocFloor() Check {
	return Check{
		ID:       "alloc-floor",
		Severity: tare.Void,
		Summary: "If an operation is declared to return a fresh value each time, it must allocate at least as many bytes per operation as its smallest answer has. " +
			"The check voids the contender if no round reached that floor. The null contender is exempt, and so are operations that write into something reused.",
		Why: "A copier was reported to copy an 88-byte struct with 64 bytes allocated. A new value needs new memory: " +
			"less memory than the answer means that the work is not done, or that the answer is shared between callers.",
		Advice:             "find out what the operation returns: a shared buffer, a cached value, or nothing; if reuse is intended, do not declare the value fresh",
		adviceIsForAuthors: true,
		Run: func(in Input) []tare.Finding {
			var out []tare.Finding
			for _, c := range in.Conformance {
				hasFloor := c.Fresh && c.Cases > 0 && c.MinBytes > 0
				if !hasFloor || in.roleOf(c.Contender) == tare.RoleNull {
					continue
				}
				maxBytes, measured := 0.0, false // bytes per operation, over the rounds
				for _, t := range in.Trials {
					if v, ok := t.Samples[c.Workload]["bytes_per_op"]; ok && t.Contender == c.Contender && t.Error == nil {
						maxBytes, measured = max(maxBytes, v), true
					}
				}
				if measured && maxBytes < float64(c.MinBytes) {
					out = append(out, tare.Finding{
						Contender: c.Contender, Workload: c.Workload,
						Message: fmt.Sprintf("allocates at most %s B/op in any round, but hands out a fresh value of at least %d B", formatNumber(maxBytes), c.MinBytes),
					})
				}
			}
			return out
		},
	}
}
