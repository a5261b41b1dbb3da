package check

import (
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// Tolerated activity of the machine in addition to measuring. More is worth a warning.
const (
	maxRunQueue  = 0.05 // share of the contenders' time in which they waited to run
	maxThrottled = 0.01 // share of wall time in which a CPU quota stopped them
)

// maxClockRatio is the largest CPU time of one busy thread over wall time. Above it the clocks may
// disagree.
const maxClockRatio = 1.05

func machine() Check {
	return Check{
		ID:       "machine",
		Severity: tare.Warn,
		Summary: "The machine should do nothing else during the study. The check warns if other programs used more than 5 % of the processors' time, or if a CPU quota stopped the contenders more than 1 % of the time. " +
			"If the machine does not report what other programs used, the check warns if some task waited for a processor more than 10 % of the time, or if the contenders waited to run more than 5 % of theirs. " +
			"It also warns of a battery, of the governor powersave and of cores of several kinds. " +
			"It skips values that the machine does not report. It notes if no machine lock was held, and if the null contender of a kind in process, which has one thread's work, used over 5 % more CPU time than time passed: " +
			"other threads of its runtime ran at the same time, or the machine's clocks disagree.",
		Why: "Laptops and shared CI runners work for others too: a machine with a processor pressure of 37 % reported only 0.2 % of steal time. " +
			"Rounds in lockstep keep the comparison fair, but the intervals get wide, and absolute values are worse than on an idle machine.",
		Advice:    "close other programs, or read only ratios and ignore absolute values",
		onlyAtEnd: true,
		Run:       findDisturbances,
	}
}

func findDisturbances(in Input) []tare.Finding {
	out := findActivity(in.Machine.Noise)
	if in.Machine.Unlocked {
		out = append(out, tare.Finding{
			Severity: tare.Note, Advice: "leave the lock on, so that one study measures at a time",
			Message: "no machine lock was held: another tare may have measured at the same time",
		})
	}
	for _, f := range in.Machine.Facilities {
		switch {
		case f.Name == "power supply" && f.Note == "battery":
			out = append(out, tare.Finding{Message: "the machine runs on its battery", Advice: "plug it in"})
		case f.Name == "cpu governor" && f.Note == "powersave":
			out = append(out, tare.Finding{Message: "the processor's governor is powersave: its clock follows the load", Advice: "set the governor to performance while measuring"})
		case f.Name == "kinds of cores" && f.Found && f.Note != "one":
			out = append(out, tare.Finding{Message: "the cores are not alike (" + f.Note + "): a contender may run on a slow one", Advice: "read wide intervals as that, or confine tare to cores of one kind"})
		}
	}
	if f, ok := compareClocks(in); ok {
		out = append(out, f)
	}
	return out
}

func findActivity(n tare.Noise) (out []tare.Finding) {
	type activity struct {
		share, limit float64
		text         string
	}
	all := []activity{{n.Throttled, maxThrottled, "of the time a CPU quota stopped the contenders"}}
	if n.OtherCPU != nil {
		all = append(all, activity{*n.OtherCPU, tare.MaxOtherCPU, "of the processors' time went to other programs"})
	} else { // less certain: tare's own processes wait for each other, too
		all = append(all, activity{n.CPUPressure, tare.MaxCPUPressure, "of the time some task waited for a processor"},
			activity{n.RunQueueWait, maxRunQueue, "of their time the contenders waited to run"})
	}
	for _, a := range all {
		if a.share > a.limit {
			out = append(out, tare.Finding{Message: fmt.Sprintf("%s %s; more than %s is worth a warning", format.Percent(a.share), a.text, format.Percent(a.limit))})
		}
	}
	return out
}

func compareClocks(in Input) (finding tare.Finding, ok bool) {
	sums := map[string]float64{} // by metric
	for _, v := range in.Values {
		isServer := in.trafficOf(v.Workload) != nil // the time of a server includes its clients' time
		if in.roleOf(v.Contender) != tare.RoleNull || isServer {
			continue
		}
		sums[v.Metric] += v.Value
	}
	wall, cpu := sums["time"], sums["cpu"] // ns
	if wall <= 0 || cpu <= maxClockRatio*wall {
		return tare.Finding{}, false
	}
	return tare.Finding{
		Severity: tare.Note,
		Message: fmt.Sprintf("the null contender used %s more CPU time than time passed (%s ns in %s ns): other threads of the runtime ran next to it, or the machine's clocks disagree",
			format.Percent(cpu/wall-1), formatNumber(cpu), formatNumber(wall)),
		Advice: "compare CPU with CPU and time with time, not the one with the other",
	}, true
}
