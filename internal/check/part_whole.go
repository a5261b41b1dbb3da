package check

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// This check finds operations that take less time than a part of themselves. For example, a
// contender that encodes 1,000 items faster than 10 items does not encode them all: it is void.
// The file compares workloads of different sizes and the percentiles of a trial. The file
// part_mix.go compares an operation with the operations that it consists of.

func partWhole() Check {
	return Check{
		ID:       "part-whole",
		Severity: tare.Void,
		Summary: "An operation on more items must not take less time than the same operation on fewer. Workloads with the same fixture, op and pool are compared with each other, " +
			"contender by contender, round by round: the larger one is void if the 99.9 % interval of the ratio of their times, over rounds, is entirely below 1 by more than 3 %. " +
			"Several sizes share the 0.1 % among their pairs (Bonferroni); one pair needs at least 11 rounds. If the study also measures, in the same way, operations of which another one consists, that one must not take less time than any of them, " +
			"and the time of a mix of operations must be between those of the fastest and the slowest of them, with the same margin and rules. A higher percentile of a trial must not be below a lower one: " +
			"no chance is involved, so one trial is enough. The null contender and the control are exempt.",
		Why: "In a published table creating and deleting a user costs less than creating one, and with two protocols of three a mix of operations costs more than any of them. If a total costs less than its part, the work was not done, " +
			"or the two rows did not measure the same thing.",
		Advice:             "find out what the operation does with the larger input: an error, an early return, a cached answer",
		adviceIsForAuthors: true,
		voidReasons: func(in Input, contender string) []voidReason {
			times := timesPerOp(in.Slices)
			out := append(boundReasons(sizeBounds(in.Study.Workloads, times, contender)), boundReasons(allBounds(in.Study.Workloads, times, contender))...)
			return append(out, in.percentileReasons(contender)...)
		},
		onlyAtEnd: true,
		Run: func(in Input) []tare.Finding {
			var out []tare.Finding
			times := timesPerOp(in.Slices)
			for _, c := range in.measuredContenders() {
				out = append(out, findFallingSizes(in.Study.Workloads, times, c.ID)...)
				out = append(out, findOutsideParts(in.Study.Workloads, times, c.ID)...)
				out = append(out, findFallingPercentiles(in.Trials, c.ID)...)
			}
			return out
		},
	}
}

// sizeBounds returns a lower bound for each pair of workloads that differ only in size: the time of
// the larger one must not be below that of the smaller one. times are in ns.
func sizeBounds(workloads []tare.Workload, times map[subjectRound]float64, contender string) []timeBound {
	var bounds []timeBound
	for _, larger := range workloads {
		for _, smaller := range workloads {
			if !isPartOf(smaller, larger) {
				continue
			}
			b := timeBound{workload: larger.ID, text: describePart(smaller.ID)}
			for _, r := range roundsOf(times, larger.ID, contender) {
				if t, ok := times[usualRound(r, smaller.ID, contender)]; ok {
					b.logRatios = append(b.logRatios, math.Log(times[usualRound(r, larger.ID, contender)]/t))
				}
			}
			if len(b.logRatios) > 0 {
				bounds = append(bounds, b)
			}
		}
	}
	return bounds
}

// findFallingSizes finds the workloads that take less time than a smaller one. There is one finding
// for each, about the smaller workload with the most extreme ratio.
func findFallingSizes(workloads []tare.Workload, times map[subjectRound]float64, contender string) []tare.Finding {
	bounds := sizeBounds(workloads, times, contender)
	worst := map[string]float64{}      // smallest ln(ratio), by workload
	found := map[string]tare.Finding{} // by workload
	for _, b := range bounds {
		f, logRatio, isViolated := b.findViolation(contender, strictLevel/float64(len(bounds)))
		if isViolated && logRatio < worst[b.workload] {
			worst[b.workload], found[b.workload] = logRatio, f
		}
	}
	var out []tare.Finding
	for _, w := range workloads {
		if f, ok := found[w.ID]; ok {
			out = append(out, f)
		}
	}
	return out
}

// isPartOf reports whether a is the same operation as b on fewer items. It returns false for
// requests without a body, for which N is the number of items in the service.
func isPartOf(a, b tare.Workload) bool {
	if a.Traffic != nil && a.Bytes == 0 && b.Bytes == 0 {
		return false
	}
	isSameOperation := a.Fixture != "" && a.Fixture == b.Fixture && a.Op == b.Op && a.Pool == b.Pool
	areBytesUnknown := a.Bytes == 0 || b.Bytes == 0
	hasFewerBytes := areBytesUnknown || a.Bytes < b.Bytes
	return isSameOperation && a.N < b.N && hasFewerBytes
}

// roundsOf lists the rounds in which contender measured workload, in ascending order. It omits long
// rounds, whose timed runs are several times as long as planned.
func roundsOf(times map[subjectRound]float64, workload, contender string) []int {
	var out []int
	for k := range times {
		if k.lengthFactor == 1 && k.workload == workload && k.contender == contender {
			out = append(out, k.round)
		}
	}
	slices.Sort(out)
	return out
}

// findFallingPercentiles finds workloads with a lower value for a higher percentile.
func findFallingPercentiles(trials []tare.Trial, contender string) []tare.Finding {
	found := map[string]tare.Finding{} // the first finding, by workload
	for _, t := range trials {
		if t.Contender != contender || t.Error != nil {
			continue
		}
		for workload, sample := range t.Samples {
			if _, seen := found[workload]; seen {
				continue
			}
			keys := percentileKeys(sample)
			for i := 1; i < len(keys); i++ {
				if lower, higher := keys[i-1], keys[i]; sample[higher] < sample[lower] {
					found[workload] = tare.Finding{
						Contender: contender, Workload: workload,
						Message: fmt.Sprintf("%s is %s and %s is %s in %s", lower, formatNumber(sample[lower]), higher, formatNumber(sample[higher]), roundIDOf(t)),
					}
					break
				}
			}
		}
	}
	var out []tare.Finding
	for _, w := range slices.Sorted(maps.Keys(found)) {
		out = append(out, found[w])
	}
	return out
}

// percentileReasons is called if the check found nothing. It returns one reason, which is disproved,
// if a trial has two percentiles that could have been wrong. Otherwise it returns nil.
func (in Input) percentileReasons(contender string) []voidReason {
	for _, t := range in.Trials {
		for _, sample := range t.Samples {
			hasTwo := len(percentileKeys(sample)) > 1
			if t.Contender == contender && t.Error == nil && hasTwo {
				return []voidReason{disprovedByRecords()}
			}
		}
	}
	return nil
}

const maxKey = "max_ns" // key of the longest latency in a sample

// percentileKeys lists the percentiles of a sample, from the lowest to the highest.
func percentileKeys(sample tare.Sample) []string {
	var out []string
	for key := range sample {
		if key == maxKey || percentileDigits(key) != "" {
			out = append(out, key)
		}
	}
	slices.SortFunc(out, func(a, b string) int { // decimals, compared as text: 5 < 50 < 99 < 999
		switch {
		case a == maxKey:
			return 1
		case b == maxKey:
			return -1
		}
		return cmp.Compare(percentileDigits(a), percentileDigits(b))
	})
	return out
}

// percentileDigits returns "999" for p99_9_ns and for p999_ns, and "" for other keys.
func percentileDigits(key string) string {
	name, hasSuffix := strings.CutSuffix(key, "_ns")
	name, hasPrefix := strings.CutPrefix(name, "p")
	whole, rest, _ := strings.Cut(name, "_")
	digits := whole + rest
	isNumber := whole != "" && strings.Trim(digits, "0123456789") == ""
	if !hasSuffix || !hasPrefix || !isNumber {
		return ""
	}
	return digits
}
