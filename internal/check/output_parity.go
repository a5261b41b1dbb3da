package check

import (
	"fmt"
	"strings"

	"github.com/tarebench/tare"
)

const (
	silentOutput = 1 // bytes per request below which a server counts as silent: what it says when it starts is spread over the requests
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
			return in.besideBaseline(in.Study.Workloads, key(tare.KeyOutput), func(c tare.Contender, _ tare.Workload, e, base extent) string {
				said := outputDiffers(e, base, in.Study.Baseline)
				if said == "" {
					return ""
				}
				return said + configured(c) + debugMode(in, c.ID)
			})
		},
	}
}

// outputDiffers names the loud one and the silent one; empty: both are alike.
func outputDiffers(e, base extent, baseline string) string {
	switch {
	case e.above(silentOutput) && base.below(silentOutput):
		return fmt.Sprintf("it writes %s bytes of output per request and %s is silent", number(e.mid), baseline)
	case e.below(silentOutput) && base.above(silentOutput):
		return fmt.Sprintf("it is silent and %s writes %s bytes of output per request", baseline, number(base.mid))
	case e.above(silentOutput) && base.above(silentOutput) && (e.above(louder*base.hi) || e.below(base.lo/louder)):
		return fmt.Sprintf("it writes %s bytes of output per request and %s writes %s", number(e.mid), baseline, number(base.mid))
	}
	return ""
}

// configured says that a log was asked for, where one was.
func configured(c tare.Contender) string {
	if log := c.Set["log"]; log != "" && log != "none" {
		return fmt.Sprintf(" (it is configured so: log %s)", log)
	}
	return ""
}

// debugMode says that contender speaks of a debug mode, where it does.
func debugMode(in Input, contender string) string {
	for _, t := range in.Trials {
		if t.Contender == contender && strings.Contains(strings.ToLower(t.Evidence.StderrTail), "debug") {
			return "; its stderr speaks of a debug mode"
		}
	}
	return ""
}
