package check

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare"
)

// This check finds servers that print more or less than the baseline. For example, one server
// prints a line for each request and the other prints nothing.

const (
	maxSilentOutput = 1 // bytes per request; a silent server prints only a message when it starts
	maxOutputRatio  = 2 // tolerated ratio of the outputs of two servers that are not silent
)

func outputParity() Check {
	return Check{
		ID:       "output-parity",
		Severity: tare.Warn,
		Summary: "Servers should write equally much per request to stdout, stderr, a terminal and a log file. Each is compared with the baseline; the check warns if one is silent (less than 1 byte per request) and the other is not, " +
			"or if one writes more than twice as much, " + byRounds + ". " + exceptApart,
		Why: "Plain Go was published as serving twice the requests of Gin. gin.Default() writes a coloured line for every request, in this case to a container's terminal, and the other server wrote nothing: " +
			"a server with a log was compared with one without.",
		Advice:    "configure the same log for all of them, or none; debug modes write too (gin.SetMode(gin.ReleaseMode), echo.Debug, a framework's development logger)",
		onlyAtEnd: true,
		Run: func(in Input) []tare.Finding {
			return in.findAgainstBaseline(in.Study.Workloads, readKey(tare.KeyOutput), func(c tare.Contender, _ tare.Workload, e, base extent) string {
				difference := describeOutput(e, base, in.Study.Baseline)
				if difference == "" {
					return ""
				}
				return difference + describeLog(c) + describeDebugMode(in, c.ID)
			})
		},
	}
}

// describeOutput returns a sentence about two outputs in bytes per request, or "" if they are alike.
func describeOutput(e, base extent, baseline string) string {
	bothWrite := e.isAbove(maxSilentOutput) && base.isAbove(maxSilentOutput)
	areFarApart := e.isAbove(maxOutputRatio*base.hi) || e.isBelow(base.lo/maxOutputRatio)
	switch {
	case e.isAbove(maxSilentOutput) && base.isBelow(maxSilentOutput):
		return fmt.Sprintf("it writes %s bytes of output per request and %s is silent", formatNumber(e.mid), baseline)
	case e.isBelow(maxSilentOutput) && base.isAbove(maxSilentOutput):
		return fmt.Sprintf("it is silent and %s writes %s bytes of output per request", baseline, formatNumber(base.mid))
	case bothWrite && areFarApart:
		return fmt.Sprintf("it writes %s bytes of output per request and %s writes %s", formatNumber(e.mid), baseline, formatNumber(base.mid))
	}
	return ""
}

func describeLog(c tare.Contender) string {
	if log := c.Set["log"]; log != "" && log != "none" {
		return fmt.Sprintf(" (it is configured so: log %s)", log)
	}
	return ""
}

func describeDebugMode(in Input, contender string) string {
	for _, t := range in.Trials {
		if t.Contender == contender && strings.Contains(strings.ToLower(t.Evidence.StderrTail), "debug") {
			return "; its stderr speaks of a debug mode"
		}
	}
	return ""
}
