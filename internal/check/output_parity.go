package check

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare"
)

const (
	silentOutput = 1 // bytes per request below which a server counts as silent: its output at start is divided by the requests
	louder       = 2 // times the other's output from which two that write differ
)

func outputParity() Check {
	return Check{
		ID:       "output-parity",
		Severity: tare.Warn,
		Summary: "What servers write per request to stdout, stderr, a terminal and a log file should agree. Each is compared with the baseline; it warns where one is silent (less than 1 byte per request) and the other is not, " +
			"or one writes more than twice as much, " + byRounds + ". " + exceptApart,
		Why: "Plain Go was published as serving twice the requests of Gin. gin.Default() writes a coloured line for every request, there to a container's terminal, and the other server wrote nothing: " +
			"the comparison was of a log with none.",
		Advice: "give all of them the same log, or none; debug modes write too (gin.SetMode(gin.ReleaseMode), echo.Debug, a framework's development logger)",
		atEnd:  true,
		Run: func(in Input) []tare.Finding {
			return in.findAgainstBaseline(in.Study.Workloads, readKey(tare.KeyOutput), func(c tare.Contender, _ tare.Workload, e, base extent) string {
				said := describeOutput(e, base, in.Study.Baseline)
				if said == "" {
					return ""
				}
				return said + describeLog(c) + debugMode(in, c.ID)
			})
		},
	}
}

// describeOutput names the loud one and the silent one, or returns "" if both are alike.
func describeOutput(e, base extent, baseline string) string {
	switch {
	case e.isAbove(silentOutput) && base.isBelow(silentOutput):
		return fmt.Sprintf("it writes %s bytes of output per request and %s is silent", formatNumber(e.mid), baseline)
	case e.isBelow(silentOutput) && base.isAbove(silentOutput):
		return fmt.Sprintf("it is silent and %s writes %s bytes of output per request", baseline, formatNumber(base.mid))
	case e.isAbove(silentOutput) && base.isAbove(silentOutput) && (e.isAbove(louder*base.hi) || e.isBelow(base.lo/louder)):
		return fmt.Sprintf("it writes %s bytes of output per request and %s writes %s", formatNumber(e.mid), baseline, formatNumber(base.mid))
	}
	return ""
}

// describeLog returns a clause with the configured log, or "" if there is none.
func describeLog(c tare.Contender) string {
	if log := c.Set["log"]; log != "" && log != "none" {
		return fmt.Sprintf(" (it is configured so: log %s)", log)
	}
	return ""
}

// debugMode returns the sentence of contender's output that mentions a debug mode, or "".
func debugMode(in Input, contender string) string {
	for _, t := range in.Trials {
		if t.Contender == contender && strings.Contains(strings.ToLower(t.Evidence.StderrTail), "debug") {
			return "; its stderr speaks of a debug mode"
		}
	}
	return ""
}
