package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

func sharedProcess() Check {
	return Check{
		ID:       "shared-process",
		Severity: tare.Warn,
		Summary: "It warns where a server and what asks it are one process, and where two contenders of a round are. Garbage collection, locks and processors are then shared, " +
			"and whose CPU time and memory it was cannot be known.",
		Why: "Server and client of a published comparison of gRPC and REST ran in one process, beside a store they shared. " +
			"The memory \"of gRPC\" was that of its client, its server and the store, and each side collected the other's garbage.",
		Advice: "run the server as a program of its own (kind server); within one process read the figures as those of server and client together",
		atEnd:  true,
		Run: func(in Input) []tare.Finding {
			var out []tare.Finding
			for _, w := range in.Study.Workloads {
				var who []string
				asked := 0
				for _, c := range in.measuredContenders() {
					if e, ok := estimateOver(in.perRound(c.ID, w.ID, readKey(tare.KeySharedProcess))); ok {
						asked++
						if e.hi > 0 {
							who = append(who, c.ID)
						}
					}
				}
				if len(who) == 0 {
					continue
				}
				f := tare.Finding{Workload: w.ID, Message: "server and load generator are one process"}
				if len(who) < asked {
					f.Message += ": " + strings.Join(who, ", ")
				}
				out = append(out, f)
			}
			return append(out, findSharedProcess(in)...)
		},
	}
}

// findSharedProcess finds contenders that were one process in some round.
func findSharedProcess(in Input) []tare.Finding {
	type place struct{ round, tau, pid int }
	at := map[place]string{}
	var found [][2]string
	for _, t := range in.Trials {
		if t.Evidence.PID == 0 || in.Plan.Isolation == tare.TrialWise { // one after another, a number can be given twice
			continue
		}
		p := place{t.Round, t.Tau, t.Evidence.PID}
		pair := [2]string{at[p], t.Contender}
		switch {
		case pair[0] == "":
			at[p] = t.Contender
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
