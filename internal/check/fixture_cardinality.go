package check

import (
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// This check finds generated inputs (fixtures) with too few different keys. For example, 10,000
// items with only 52 ids measure caches instead of lookups.

func fixtureCardinality() Check {
	return Check{
		ID:       "fixture-cardinality",
		Severity: tare.Void, voidsWorkload: true,
		Summary: "The items of a generated input must have as many different keys as the input is declared to have items. The kind of the study counts the keys in every body that it generates; " +
			"the body with the fewest keys is compared with the requested number. The check does not apply if the kind cannot count, as in a user's own file.",
		Why: "A load test of \"10,000 devices\" drew its ids from 52: the same few were found, cached and overwritten again and again, " +
			"and lookups were reported to cost the same however many devices there were.",
		Advice: "fix the generator so that every item has a key of its own, and give the fixture a new version",
		Run: func(in Input) []tare.Finding {
			var out []tare.Finding
			for _, w := range in.Study.Workloads {
				if w.Keys <= 0 || w.DistinctKeys >= w.Keys {
					continue
				}
				out = append(out, tare.Finding{
					Workload: w.ID,
					Message:  fmt.Sprintf("a body of %s has only %d different among %s", w.Fixture, w.DistinctKeys, format.Count(w.Keys, "key")),
				})
			}
			return out
		},
	}
}
