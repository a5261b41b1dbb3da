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

// words are how a metric is spoken of.
type words struct {
	noun                   string
	worse, noWorse, better string
	adjective              bool // "is slower", not "takes more memory"
	takes, take            string
}

// wordsFor are the words of a metric in a table.
func wordsFor(metric string) words {
	m := tare.MetricFor(metric)
	switch {
	case m.IsLatency():
		return words{noun: m.Noun, worse: "higher in " + m.Noun, noWorse: "not higher in " + m.Noun, better: "lower in " + m.Noun, adjective: true}
	case m.Slower != "":
		return words{noun: m.Noun, worse: m.Slower, noWorse: "not " + m.Slower, better: m.Faster, adjective: true}
	case m.Counted:
		return words{noun: m.Noun, worse: m.More, noWorse: "not " + m.More, better: m.Less, takes: "does", take: "do"}
	}
	return words{noun: m.Noun, worse: m.More, noWorse: "not " + m.More, better: m.Less, takes: "takes", take: "take"}
}

// verdict is the row's outcome in the words of its metric, with the margin
// where it is held to one.
func (rep *Report) verdict(r Row) string {
	w, by := wordsFor(r.Metric), " by > "+percent(rep.margin(r))
	if r.Limit > 0 && r.Outcome != Void && r.Outcome != Open {
		return r.held()
	}
	if r.Low == 0 { // different without an interval
		by = ""
	}
	switch r.Outcome {
	case Worse:
		return w.worse + by
	case NoWorse:
		if r.Untimed || r.Exact && r.Base == r.Head {
			return "same " + w.noun
		}
		return w.noWorse + by
	case Better:
		return w.better
	}
	return string(r.Outcome)
}

// sentence says what was found of a row, without naming the benchmark.
func (rep *Report) sentence(r Row) string {
	switch r.Outcome {
	case Void:
		return r.why
	case Open:
		return rep.open(r)
	}
	word := rep.verdict(r)
	if r.Untimed {
		return untimed
	}
	if r.Limit > 0 {
		return fmt.Sprintf("%s: the median over rounds is %s (%s to %s, %s, %s), %s before",
			word, amount(r.Head, r.Unit), amount(r.Low, r.Unit), amount(r.High, r.Unit), confidence(r.Level), format.Count(r.Rounds, "round"), amount(r.Base, r.Unit))
	}
	if r.Exact {
		return fmt.Sprintf("%s: %s before, %s now, in each of %s", word, format.Average(r.Base), amount(r.Head, r.Unit), r.times())
	}
	if r.Low == 0 {
		return fmt.Sprintf("%s: %s before, %s now; it differs between rounds, but all of one side lie above all of the other", word, amount(r.Base, r.Unit), amount(r.Head, r.Unit))
	}
	same := ""
	if r.SameCode {
		same = "; the machine code of this benchmark is the same on both sides"
	}
	return fmt.Sprintf("%s: %s %s (%s), %s before, %s now%s", word, r.change(), wordsFor(r.Metric).noun, r.spanned(), amount(r.Base, r.Unit), amount(r.Head, r.Unit), same)
}

// held is a limit that is kept or is not.
func (r Row) held() string {
	limit := r.limited()
	switch {
	case r.Outcome == Worse && r.least:
		return "below " + limit
	case r.Outcome == Worse:
		return "over " + limit
	case r.least:
		return "at least " + limit
	}
	return "within " + limit
}

// limited is the limit as people write it: 50 ms, not 50.0 ms.
func (r Row) limited() string {
	figure, unit, _ := strings.Cut(amount(r.Limit, r.Unit), " ")
	if strings.Contains(figure, ".") {
		figure = strings.TrimRight(strings.TrimRight(figure, "0"), ".")
	}
	return figure + " " + unit
}

// openLimit says why it could not be told whether a limit is kept.
func (r Row) openLimit() string {
	switch {
	case r.Low == 0:
		return fmt.Sprintf("cannot be told: no interval after %s, for %s of the whole table; more rounds would tell", format.Count(r.Rounds, "round"), confidence(r.Level))
	}
	return fmt.Sprintf("cannot be told whether it keeps to %s: the median over rounds is %s (%s to %s, %s, %s); %s",
		r.limited(), amount(r.Head, r.Unit), amount(r.Low, r.Unit), amount(r.High, r.Unit), confidence(r.Level), format.Count(r.Rounds, "round"), needed(r))
}

// open says why something could not be told.
func (rep *Report) open(r Row) string {
	noun := wordsFor(r.Metric).noun
	switch {
	case r.why != "":
		return "cannot be told: " + r.why
	case r.Limit > 0:
		return r.openLimit()
	case r.Rounds == 0:
		return fmt.Sprintf("cannot be told: there is no ratio of %s", noun)
	case r.Low == 0:
		return fmt.Sprintf("cannot be told: no interval after %s; %s", format.Count(r.Rounds, "round"), needed(r))
	case r.Low > 1+rep.margin(r):
		return fmt.Sprintf("cannot be told: %s %s (%s), but the base against itself differs as much; the machine is too restless", r.change(), noun, r.spanned())
	}
	return fmt.Sprintf("cannot be told whether it is worse by more than %s: %s %s (%s); %s", percent(rep.margin(r)), r.change(), noun, r.spanned(), needed(r))
}

func needed(r Row) string {
	if tare.MetricFor(r.Metric).Counted {
		return "its counts vary too much"
	}
	if r.Needed == 0 {
		return "more rounds than tare runs would be needed"
	}
	return fmt.Sprintf("about %d rounds would tell", r.Needed)
}

// spanned is the interval with its level and rounds.
func (r Row) spanned() string {
	_, interval := r.changes()
	return fmt.Sprintf("%s, %s, %s", interval, confidence(r.Level), r.times())
}

// times returns how often a row was measured, in words.
func (r Row) times() string {
	if tare.MetricFor(r.Metric).Counted {
		return format.Count(r.Rounds, "count")
	}
	return format.Count(r.Rounds, "round")
}

// changes formats the ratio of a row and its interval, which is "" if there is
// none. They have one unit: per cent, or times if any of them is at least a factor of two.
func (r Row) changes() (by, interval string) {
	all := []float64{r.Ratio}
	if r.Low > 0 {
		all = append(all, r.Low, r.High)
	}
	print := formatPercent
	if slices.ContainsFunc(all, isFactor) {
		print = format.Factor
	}
	if r.Low > 0 {
		interval = print(r.Low) + " to " + print(r.High)
	}
	return print(r.Ratio), interval
}

// change formats the ratio of a row.
func (r Row) change() string {
	by, _ := r.changes()
	return by
}

// isFactor reports whether a ratio reads better as a factor than in per cent.
func isFactor(ratio float64) bool { return ratio >= 2 || ratio > 0 && ratio <= 0.5 }

func formatPercent(ratio float64) string {
	if math.Abs(ratio-1) < 0.0005 {
		return "±0.0 %"
	}
	return fmt.Sprintf("%+.1f %%", 100*(ratio-1))
}

// percent is a share in per cent.
func percent(share float64) string {
	return strconv.FormatFloat(math.Round(share*1e6)/1e4, 'f', -1, 64) + " %"
}

// confidence is a level in per cent, which never rounds up to certainty.
func confidence(level float64) string {
	return strconv.FormatFloat(math.Floor(level*1e4)/1e2, 'f', -1, 64) + " %"
}

// ratioText is a limit as a criterion has it.
func ratioText(x float64) string { return strconv.FormatFloat(math.Round(x*1e8)/1e8, 'f', -1, 64) }

// amount is a figure with its unit; times are scaled.
func amount(x float64, unit string) string {
	if rest, ok := strings.CutPrefix(unit, "ns"); ok {
		for _, step := range []struct {
			from float64
			unit string
		}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}} {
			if x >= step.from {
				return significant(x/step.from) + " " + step.unit + rest
			}
		}
		return significant(x) + " " + unit
	}
	return format.Average(x) + " " + unit
}

// significant is a number with three significant digits or all whole ones.
func significant(x float64) string {
	if x >= 100 || x == 0 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'f', max(0, 2-int(math.Floor(math.Log10(x)))), 64)
}

func pick(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// listed is words in a row, e.g. time, cpu and allocs.
func listed(words []string, last string) string {
	if n := len(words); n > 2 {
		return strings.Join(words[:n-1], ", ") + last + words[n-1]
	}
	return strings.Join(words, last)
}
