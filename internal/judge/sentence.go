package judge

import (
	"fmt"
	"math"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// words is how people speak of a metric.
type words struct {
	verb string // of the contender
	of   string // what is compared
	less string // where the ratio is below 1; also of a difference: "4 % less time than"
	more string
	fold [2]string // below and above 1, for factors of 1.5 and more; empty: percentages throughout
	noun string    // the metric itself
}

func wordsFor(metric string) words {
	switch metric {
	case "time":
		return words{"takes", "the time of", "less time", "more time", [2]string{"faster", "slower"}, "time"}
	case "cpu":
		return words{"uses", "the CPU time of", "less CPU time", "more CPU time", [2]string{}, "CPU time"}
	case "bytes":
		return words{"allocates", "the bytes of", "less memory allocated", "more memory allocated", [2]string{}, "allocated bytes"}
	case "allocs":
		return words{"makes", "the allocations of", "fewer allocations", "more allocations", [2]string{}, "allocations"}
	case "size":
		return words{"writes", "the bytes of", "less output", "more output", [2]string{}, "size of the output"}
	case "p50":
		return words{"answers half of the requests within", "the time of", "lower median latency", "higher median latency", [2]string{}, "median latency"}
	case "p90":
		return words{"answers 90 % of the requests within", "the time of", "lower p90 latency", "higher p90 latency", [2]string{}, "p90 latency"}
	case "p99":
		return words{"answers 99 % of the requests within", "the time of", "lower p99 latency", "higher p99 latency", [2]string{}, "p99 latency"}
	case "p99.9":
		return words{"answers 99.9 % of the requests within", "the time of", "lower p99.9 latency", "higher p99.9 latency", [2]string{}, "p99.9 latency"}
	case "max":
		return words{"answers each request within", "the time of", "lower longest latency", "higher longest latency", [2]string{}, "longest latency"}
	case "client-cpu":
		return words{"costs its clients", "the CPU time of", "less CPU time of the clients", "more CPU time of the clients", [2]string{}, "CPU time of the clients"}
	case "client-bytes":
		return words{"has its client allocate", "the memory of", "less memory allocated by the client", "more memory allocated by the client", [2]string{}, "memory allocated by the client"}
	case "client-allocs":
		return words{"has its client make", "the allocations of", "fewer allocations of the client", "more allocations of the client", [2]string{}, "allocations of the client"}
	case "stop":
		return words{"ends within", "the time of", "less time to end", "more time to end", [2]string{}, "time to end"}
	case "rss":
		return words{"holds", "the resident memory of", "less resident memory", "more resident memory", [2]string{}, "peak resident memory"}
	}
	return words{"has", "the " + metric + " of", "less " + metric, "more " + metric, [2]string{}, metric}
}

// change says a ratio in words: "1.9× faster", "4.8 % less time".
func change(ratio float64, w words) string {
	switch {
	case ratio == 1:
		return "the same"
	case w.fold[0] != "" && ratio <= 1/1.5:
		return formatTimes(1/ratio) + " " + w.fold[0]
	case w.fold[1] != "" && ratio >= 1.5:
		return formatTimes(ratio) + " " + w.fold[1]
	case ratio < 1:
		return format.Percent(1-ratio) + " " + w.less
	}
	return format.Percent(ratio-1) + " " + w.more
}

// measure is the ratio with what it rests on: "0.52× the time of B on W (0.51
// to 0.53, 95 %, 18 rounds)".
func measure(c tare.Comparison, edges ...float64) string {
	ratio, span := spanned(c, edges...)
	return fmt.Sprintf("%s× %s %s on %s %s", ratio, wordsFor(c.Metric).of, c.Against, c.Workload, span)
}

// spanned is the ratio, and its interval in brackets.
func spanned(c tare.Comparison, edges ...float64) (ratio, span string) {
	r, lo, hi := formatInterval(c.Ratio, c.Low, c.High, edges...)
	if c.Exact {
		return r, fmt.Sprintf("(the same in each of %s)", formatRounds(c.Rounds))
	}
	return r, fmt.Sprintf("(%s to %s, %s, %s)", lo, hi, formatLevel(c.Level), formatRounds(c.Rounds))
}

// difference says what was found on one comparison: a difference, or that none
// was shown. control is the half-width below which none is claimed.
func difference(c tare.Comparison, control float64, d Data) string {
	w := wordsFor(c.Metric)
	if !c.Bounded() {
		return fmt.Sprintf("%s against %s on %s: no interval after %s; it takes %d.",
			c.Contender, c.Against, c.Workload, formatRounds(c.Rounds), roundsForInterval(c, d.looks()))
	}
	ratio, span := spanned(c, 1)
	switch significance := c.Differs(control); {
	case significance != tare.Significant && c.Below(d.Plan.Until):
		return fmt.Sprintf("%s and %s on %s: any difference in %s is smaller than %s; the ratio is %s %s.",
			c.Contender, c.Against, c.Workload, w.noun, format.Percent(d.Plan.Until), ratio, span)
	case significance == tare.Significant:
		return fmt.Sprintf("%s %s %s: %s.", c.Contender, w.verb, measure(c, 1), change(c.Ratio, w))
	case significance == tare.WithinNoise:
		return fmt.Sprintf("%s and %s on %s: no difference in %s shown; the ratio %s %s is within what the control shows here (±%s).",
			c.Contender, c.Against, c.Workload, w.noun, ratio, span, format.Percent(math.Expm1(control)))
	}
	return fmt.Sprintf("%s and %s on %s: no difference in %s shown; the ratio is %s %s.",
		c.Contender, c.Against, c.Workload, w.noun, ratio, span)
}

// ruled is the sentence of a criterion on a ratio: who, what was asked, what
// came out, the numbers, and where a ratio was asked for the change in words.
// control is the half-width below which no difference is claimed.
func ruled(criterion string, ruling tare.Ruling, c tare.Comparison, control float64, edges ...float64) string {
	w := wordsFor(c.Metric)
	tail := ""
	if strings.Contains(criterion, " ratio ") && ruling != tare.Inconclusive {
		switch c.Differs(control) {
		case tare.Significant:
			tail = ": " + change(c.Ratio, w)
		case tare.WithinNoise:
			tail = fmt.Sprintf(", which is within what the control shows here (±%s)", format.Percent(math.Expm1(control)))
		}
	}
	return fmt.Sprintf("%s: %s is %s: it %s %s%s.", c.Contender, criterion, ruling, w.verb, measure(c, edges...), tail)
}

// forecast is the last sentence of an open verdict.
func forecast(rounds int) string {
	if rounds == 0 {
		return "No number of rounds in reach is expected to decide it."
	}
	return fmt.Sprintf("About %s would decide it.", formatRounds(rounds))
}

// voided is the sentence of a verdict that a finding voids.
func voided(contender, workload string, f tare.Finding) string {
	who := ""
	if f.Contender != "" && f.Contender != contender {
		who = f.Contender + ": "
	}
	return fmt.Sprintf("%s on %s is void by %s: %s%s.", contender, workload, f.Check, who, f.Message)
}
