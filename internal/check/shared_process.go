package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// This check finds contenders that run in one process with their client, or with another contender.
// The CPU time and the memory of each cannot be known then.

func sharedProcess() Check {
	return Check{
		ID:       "shared-process",
		Severity: tare.Warn,
		Summary: "The check warns if a server and its client are one process, or if two contenders of a round are. They then share garbage collection, locks and processors, " +
			"so the CPU time and memory of each cannot be known.",
		Why: "Server and client of a published comparison of gRPC and REST ran in one process, with a store that they shared. " +
			"The memory \"of gRPC\" was that of its client, its server and the store, and each side collected the other's garbage.",
		Advice:    "run the server as a separate program (kind server), or read the values as those of server and client together",
		onlyAtEnd: true,
		Run: func(in Input) []tare.Finding {
			var out []tare.Finding
			for _, w := range in.Study.Workloads {
				var shared []string // contenders in one process with the load generator
				known := 0          // contenders of which it is known whether they share one
				for _, c := range in.measuredContenders() {
					if e, ok := in.estimateValue(c.ID, w.ID, readKey(tare.KeySharedProcess)); ok {
						known++
						if e.hi > 0 { // in at least one round
							shared = append(shared, c.ID)
						}
					}
				}
				if len(shared) == 0 {
					continue
				}
				f := tare.Finding{Workload: w.ID, Message: "server and load generator are one process"}
				if len(shared) < known {
					f.Message += ": " + strings.Join(shared, ", ")
				}
				out = append(out, f)
			}
			return append(out, findSharedProcess(in)...)
		},
	}
}

// findSharedProcess finds pairs of contenders that had the same process id in a round.
func findSharedProcess(in Input) []tare.Finding {
	if in.Plan.Isolation == tare.TrialWise { // one process after another, so ids can be reused
		return nil
	}
	type process struct {
		roundID
		pid int
	}
	owners := map[process]string{} // the first contender with that process
	var found [][2]string
	for _, t := range in.Trials {
		if t.Evidence.PID == 0 { // unknown
			continue
		}
		p := process{roundIDOf(t), t.Evidence.PID}
		pair := [2]string{owners[p], t.Contender}
		switch {
		case pair[0] == "":
			owners[p] = t.Contender
		case pair[0] != pair[1] && !slices.Contains(found, pair):
			found = append(found, pair)
		}
	}
	var out []tare.Finding
	for _, pair := range found {
		out = append(out, tare.Finding{Contender: pair[1], Message: fmt.Sprintf("it was one process with %s", pair[0])})
	}
	return out
}
