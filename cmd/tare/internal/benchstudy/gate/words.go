package gate

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// This file puts a row of a gate's report into words. For example: "slower by > 5 %: +12.0 % time
// (+9.0 % to +15.0 %, 99 %, 12 rounds), 1.00 µs before, 1.12 µs now".

// metricWords contains the words for a metric in sentences such as "is slower" or "takes more
// memory".
type metricWords struct {
	noun                   string // e.g. time
	worse, noWorse, better string // e.g. more memory, not more memory, less memory
	verb                   verb
}

// verb has the forms of a verb, e.g. is, are, be.
type verb struct{ singular, plural, infinitive string }

func wordsFor(metric string) metricWords {
	m := tare.MetricFor(metric)
	is := verb{"is", "are", "be"}
	switch {
	case m.IsLatency():
		return metricWords{noun: m.Noun, worse: "higher in " + m.Noun, noWorse: "not higher in " + m.Noun, better: "lower in " + m.Noun, verb: is}
	case m.Slower != "":
		return metricWords{noun: m.Noun, worse: m.Slower, noWorse: "not " + m.Slower, better: m.Faster, verb: is}
	}
	words := metricWords{noun: m.Noun, worse: m.More, noWorse: "not " + m.More, better: m.Less, verb: verb{"takes", "take", "take"}}
	if m.Counted {
		words.verb = verb{"does", "do", "do"}
	}
	return words
}

func (rep *Report) rowVerdict(r Row) string {
	isDecided := r.Outcome != Void && r.Outcome != Open
	if r.hasLimit() && isDecided {
		return r.describeLimit()
	}
	w, by := wordsFor(r.Metric), ""
	if isByMargin := r.hasInterval(); isByMargin { // without an interval, the margin was not used
		by = " by > " + formatShare(rep.marginOf(r))
	}
	switch r.Outcome {
	case Worse:
		return w.worse + by
	case NoWorse:
		if isSame := r.Exact && r.Base == r.Head; r.Untimed || isSame {
			return "same " + w.noun
		}
		return w.noWorse + by
	case Better:
		return w.better
	}
	return string(r.Outcome)
}

func (rep *Report) rowSentence(r Row) string {
	verdict, before, now := rep.rowVerdict(r), formatAmount(r.Base, r.Unit), formatAmount(r.Head, r.Unit)
	switch {
	case r.Outcome == Void:
		return r.why
	case r.Outcome == Open:
		return rep.whyOpen(r)
	case r.Untimed:
		return untimedText
	case r.hasLimit():
		return fmt.Sprintf("%s: %s, %s before", verdict, r.describeMedian(), before)
	case r.Exact:
		return fmt.Sprintf("%s: %s before, %s now, in each of %s", verdict, format.Average(r.Base), now, r.describeRounds())
	case !r.hasInterval():
		return fmt.Sprintf("%s: %s before, %s now; it differs between rounds, but all of one side lie above all of the other", verdict, before, now)
	}
	same := ""
	if r.SameCode {
		same = "; the machine code of this benchmark is the same on both sides"
	}
	return fmt.Sprintf("%s: %s %s (%s), %s before, %s now%s", verdict, r.formatChange(), wordsFor(r.Metric).noun, r.describeInterval(), before, now, same)
}

func (r Row) describeMedian() string {
	return fmt.Sprintf("the median over rounds is %s (%s to %s, %s, %s)",
		formatAmount(r.Head, r.Unit), formatAmount(r.Low, r.Unit), formatAmount(r.High, r.Unit), formatLevel(r.Level), format.Count(r.Rounds, "round"))
}

func (r Row) describeLimit() string {
	limit := r.formatLimit()
	switch {
	case r.Outcome == Worse && r.isMin:
		return "below " + limit
	case r.Outcome == Worse:
		return "over " + limit
	case r.isMin:
		return "at least " + limit
	}
	return "within " + limit
}

// formatLimit returns the limit as people write it: 50 ms, not 50.0 ms.
func (r Row) formatLimit() string {
	figure, unit, _ := strings.Cut(formatAmount(r.Limit, r.Unit), " ")
	if strings.Contains(figure, ".") {
		figure = strings.TrimRight(strings.TrimRight(figure, "0"), ".")
	}
	return figure + " " + unit
}

func (r Row) whyLimitOpen() string {
	if !r.hasInterval() {
		return fmt.Sprintf("cannot be told: no interval after %s, for %s of the whole table; more rounds would tell", format.Count(r.Rounds, "round"), formatLevel(r.Level))
	}
	return fmt.Sprintf("cannot be told whether it keeps to %s: %s; %s", r.formatLimit(), r.describeMedian(), describeNeeded(r))
}

func (rep *Report) whyOpen(r Row) string {
	noun := wordsFor(r.Metric).noun
	switch {
	case r.why != "":
		return "cannot be told: " + r.why
	case r.hasLimit():
		return r.whyLimitOpen()
	case r.Rounds == 0:
		return fmt.Sprintf("cannot be told: there is no ratio of %s", noun)
	case !r.hasInterval():
		return fmt.Sprintf("cannot be told: no interval after %s; %s", format.Count(r.Rounds, "round"), describeNeeded(r))
	case r.Low > 1+rep.marginOf(r): // beyond the margin, but within the noise floor
		return fmt.Sprintf("cannot be told: %s %s (%s), but the base against itself differs as much; the machine is too restless", r.formatChange(), noun, r.describeInterval())
	}
	return fmt.Sprintf("cannot be told whether it is worse by more than %s: %s %s (%s); %s", formatShare(rep.marginOf(r)), r.formatChange(), noun, r.describeInterval(), describeNeeded(r))
}

func describeNeeded(r Row) string {
	if tare.MetricFor(r.Metric).Counted {
		return "its counts vary too much"
	}
	if r.RoundsNeeded == 0 {
		return "more rounds than tare runs would be needed"
	}
	return fmt.Sprintf("about %d rounds would tell", r.RoundsNeeded)
}

// describeInterval returns e.g. "+9.0 % to +15.0 %, 99 %, 12 rounds".
func (r Row) describeInterval() string {
	_, interval := r.formatChanges()
	return fmt.Sprintf("%s, %s, %s", interval, formatLevel(r.Level), r.describeRounds())
}

func (r Row) describeRounds() string {
	if tare.MetricFor(r.Metric).Counted {
		return format.Count(r.Rounds, "count")
	}
	return format.Count(r.Rounds, "round")
}

// formatChanges returns the ratio of a row, e.g. "+5.0 %", and its interval, or "" without one. All
// numbers are in per cent, or all are factors.
func (r Row) formatChanges() (change, interval string) {
	all := []float64{r.Ratio}
	if r.hasInterval() {
		all = append(all, r.Low, r.High)
	}
	formatOne := func(x float64) string { return format.Change(x, 1) }
	if slices.ContainsFunc(all, isFactor) {
		formatOne = format.Factor
	}
	if r.hasInterval() {
		interval = formatOne(r.Low) + " to " + formatOne(r.High)
	}
	return formatOne(r.Ratio), interval
}

func (r Row) formatChange() string {
	change, _ := r.formatChanges()
	return change
}

func isFactor(ratio float64) bool { return ratio >= 2 || ratio > 0 && ratio <= 0.5 }

func formatShare(share float64) string {
	return strconv.FormatFloat(math.Round(share*1e6)/1e4, 'f', -1, 64) + " %"
}

// formatLevel formats a confidence level in per cent. It rounds down: 99.996 % must not become
// 100 %.
func formatLevel(level float64) string {
	return strconv.FormatFloat(math.Floor(level*1e4)/1e2, 'f', -1, 64) + " %"
}

// formatRatio formats a ratio without rounding errors such as 1.1500000000000001.
func formatRatio(x float64) string { return strconv.FormatFloat(math.Round(x*1e8)/1e8, 'f', -1, 64) }

func formatAmount(x float64, unit string) string {
	if rest, ok := strings.CutPrefix(unit, "ns"); ok {
		for _, step := range []struct {
			from float64
			unit string
		}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}} {
			if x >= step.from {
				return format.Digits(x/step.from, 3) + " " + step.unit + rest
			}
		}
		return format.Digits(x, 3) + " " + unit
	}
	return format.Average(x) + " " + unit
}
