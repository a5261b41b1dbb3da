package check

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

func rateHeld() Check {
	return Check{
		ID:       "rate-held",
		Severity: tare.Void,
		Summary: "The load must be the one that was asked for. A contender is void on a workload where the achieved rate of an open loop is more than 3 % off " + byRounds + ", " +
			"where fewer connections were opened than planned, and where its server could use another number of cores than the baseline's.",
		Why: "A tool that was told -c50 -t12 opened 48 connections, four for each thread, and said 50. Another dropped one request in 20 at the rate it was given. " +
			"What a server does at 2,900 requests per second says nothing about 3,000.",
		Advice: "ask for a rate that this server and this machine hold (the message says which side was busy), and for a number of connections that can be opened",
		suspects: func(in Input, contender string) (out []suspicion) {
			for _, w := range in.trafficked() {
				out = append(out, in.otherLoads(contender, w.ID)...)
			}
			return out
		},
		atEnd: true,
		Run: func(in Input) []tare.Finding {
			return findEach(in.measured(), in.trafficked(), func(c tare.Contender, w tare.Workload) string {
				return strings.Join(otherLoad(in, c.ID, w.ID), "; ")
			})
		},
	}
}

// otherLoads are the ways in which the load could not be as planned.
func (in Input) otherLoads(contender, workload string) []suspicion {
	out := []suspicion{{off(in.perRound(contender, workload, heldRate), tolerance)}}
	if planned, ok := over(in.perRound(contender, workload, key(tare.KeyConnections))); ok {
		out = append(out, suspicion{below(in.perRound(contender, workload, key(tare.KeyConnects)), planned.lo)})
	}
	if base, ok := over(in.perRound(in.Study.Baseline, workload, key(tare.KeyServerCores))); ok {
		out = append(out, suspicion{outside(in.perRound(contender, workload, key(tare.KeyServerCores)), base.lo, base.hi)})
	}
	return out
}

// heldRate reads the rate achieved over the rate asked for.
func heldRate(s tare.Sample) (float64, bool) {
	return ratio([]string{tare.KeyRate}, []string{tare.KeyRateAsked})(s)
}

// otherLoad says in which ways the load was not as planned.
func otherLoad(in Input, contender, workload string) []string {
	var said []string
	if e, ok := over(in.perRound(contender, workload, heldRate)); ok && e.off(tolerance) {
		asked, _ := over(in.perRound(contender, workload, key(tare.KeyRateAsked)))
		said = append(said, fmt.Sprintf("%s requests per second were asked for and %s achieved (%s)%s",
			number(asked.mid), number(e.mid*asked.mid), format.Count(e.rounds, "round"), in.limits(contender, workload)))
	}
	planned, okPlanned := over(in.perRound(contender, workload, key(tare.KeyConnections)))
	// Reconnects can only add to what was opened.
	opened, okOpened := over(in.perRound(contender, workload, key(tare.KeyConnects)))
	if okPlanned && okOpened && opened.mid > 0 && opened.below(planned.lo) {
		said = append(said, fmt.Sprintf("%s were planned and %s opened", format.Count(int(planned.mid), "connection"), number(opened.mid)))
	}
	cores, okCores := over(in.perRound(contender, workload, key(tare.KeyServerCores)))
	base, okBase := over(in.perRound(in.Study.Baseline, workload, key(tare.KeyServerCores)))
	if okCores && okBase && (cores.below(base.lo) || cores.above(base.hi)) {
		said = append(said, fmt.Sprintf("the server may use %s and the baseline's %s", format.Count(int(cores.mid), "core"), format.Count(int(base.mid), "core")))
	}
	return said
}
