package load

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tarebench/tare/load/hist"
)

// Merge returns the sum of the results of several load generators that sent to one server at the same time.
// It returns nil without results. Percentiles of a second are computed from its merged bins.
func Merge(results []*Result) *Result {
	if len(results) == 0 {
		return nil
	}
	out := &Result{
		Engine: results[0].Engine, Statuses: map[int]int64{}, Codes: map[int]int64{}, Errors: map[Class]int64{},
		Latency: new(hist.Hist), Service: new(hist.Hist), FirstByte: new(hist.Hist), Connect: new(hist.Hist), Handshake: new(hist.Hist), SendLag: new(hist.Hist),
	}
	seconds := map[time.Duration]*Second{}
	for _, r := range results {
		if r.Engine != out.Engine {
			out.Engine = "mixed"
		}
		out.Connections += r.Connections
		out.Streams = max(out.Streams, r.Streams)
		out.Threads += r.Threads
		out.Wall = max(out.Wall, r.Wall)
		out.Sent += r.Sent
		out.Requests += r.Requests
		addCounts(out.Statuses, r.Statuses)
		addCounts(out.Codes, r.Codes)
		addCounts(out.Errors, r.Errors)
		out.Unasked += r.Unasked
		if out.FirstError == "" {
			out.FirstError = r.FirstError
		}
		out.Resumed += r.Resumed
		out.Opened += r.Opened
		out.Reconnects += r.Reconnects
		out.Resent += r.Resent
		for i, h := range r.listHistograms() {
			if h != nil {
				out.listHistograms()[i].Merge(h)
			}
		}
		out.Asked += r.Asked
		out.Late += r.Late
		out.Concurrency += r.Concurrency
		out.BytesIn += r.BytesIn
		out.BytesOut += r.BytesOut
		out.BodyIn += r.BodyIn
		out.BodyOut += r.BodyOut
		out.CPU += r.CPU
		if r.Wait < 0 || out.Wait < 0 {
			out.Wait = -1
		} else {
			out.Wait += r.Wait
		}
		for _, s := range r.Timeline {
			mergeSecond(seconds, s)
		}
	}
	for _, at := range slices.Sorted(maps.Keys(seconds)) {
		s := seconds[at]
		s.P50, s.P99 = binQuantile(s.Bins, 0.5), binQuantile(s.Bins, 0.99)
		out.Timeline = append(out.Timeline, *s)
	}
	out.Blocks, out.Steps = mergeBlocks(results), mergeSteps(results)
	return out
}

// mergeBlocks returns the sums of blocks with the same number, and so of the same time. It returns nil if a
// result lacks blocks: an interval must be computed from all requests.
func mergeBlocks(results []*Result) []Block {
	objectives := countObjectives(results[0].Blocks)
	sums := makeBlocks(objectives)
	for _, r := range results {
		if checkBlocks(r.Blocks) != nil || len(r.Blocks) == 0 || countObjectives(r.Blocks) != objectives {
			return nil
		}
		for i, b := range r.Blocks {
			sums[i].addBlock(b)
		}
	}
	return sums
}

// mergeSteps returns the sums of steps with the same number. A generator that ended early lacks the last
// ones.
func mergeSteps(results []*Result) (out []StepResult) {
	parts := map[int][]StepResult{}
	for _, r := range results {
		for _, s := range r.Steps {
			parts[s.Number] = append(parts[s.Number], s)
		}
	}
	for _, number := range slices.Sorted(maps.Keys(parts)) {
		merged := StepResult{Number: number, At: parts[number][0].At}
		var list []*Result
		for _, s := range parts[number] {
			merged.Rate += s.Rate
			merged.At = min(merged.At, s.At)
			list = append(list, s.Result)
		}
		merged.Result = Merge(list)
		out = append(out, merged)
	}
	return out
}

func (r *Result) listHistograms() []*hist.Hist {
	return []*hist.Hist{r.Latency, r.Service, r.FirstByte, r.Connect, r.Handshake, r.SendLag}
}

func addCounts[K comparable](to, from map[K]int64) {
	for k, n := range from {
		to[k] += n
	}
}

func mergeSecond(seconds map[time.Duration]*Second, s Second) {
	to := seconds[s.At]
	if to == nil {
		to = &Second{At: s.At}
		seconds[s.At] = to
	}
	to.Requests += s.Requests
	to.Errors += s.Errors
	to.Max = max(to.Max, s.Max)
	if len(s.Classes) > 0 && to.Classes == nil {
		to.Classes = map[Class]int64{}
	}
	addCounts(to.Classes, s.Classes)
	bins := map[hist.Bin]int64{}
	for _, list := range [][]hist.Bin{to.Bins, s.Bins} {
		for _, b := range list {
			bins[hist.Bin{Low: b.Low, High: b.High}] += b.Count
		}
	}
	to.Bins = nil
	for b, n := range bins {
		to.Bins = append(to.Bins, hist.Bin{Low: b.Low, High: b.High, Count: n})
	}
	slices.SortFunc(to.Bins, func(a, b hist.Bin) int { return cmp.Compare(a.Low, b.Low) })
}

// binQuantile returns the middle of the bin that contains a quantile.
func binQuantile(bins []hist.Bin, share float64) time.Duration {
	var n, below int64
	for _, b := range bins {
		n += b.Count
	}
	for _, b := range bins {
		if below += b.Count; float64(below) >= share*float64(n) {
			return time.Duration((b.Low + b.High - 1) / 2)
		}
	}
	return 0
}

// Bounds of results from other machines, far above possible values.
const (
	maxCount = 1e15 // of any count
	maxValue = 1e12 // of a rate per second, and of the number of requests in flight
)

// CheckResult returns an error if a result from another machine has impossible values. Examples are
// negative counts and missing histograms.
func CheckResult(r *Result) error {
	counts := []int64{r.Sent, r.Requests, r.Unasked, r.Resumed, r.Opened, r.Reconnects, r.Resent, r.Late, r.BytesIn, r.BytesOut, r.BodyIn, r.BodyOut}
	for _, m := range []map[int]int64{r.Statuses, r.Codes} {
		counts = slices.AppendSeq(counts, maps.Values(m))
	}
	const (
		maxBins   = 1000    // of a second
		maxText   = 4 << 10 // of the first error, in bytes
		maxEngine = 40      // of the engine's name, in bytes
		slack     = 60      // seconds that a phase may exceed MaxDuration
	)
	var answered int64
	for _, n := range r.Statuses {
		answered += n
	}
	counts = slices.AppendSeq(counts, maps.Values(r.Errors))
	switch {
	case slices.ContainsFunc(counts, func(n int64) bool { return n < 0 || n > maxCount }):
		return errors.New("a count is impossible")
	case slices.Contains(r.listHistograms(), nil):
		return errors.New("a histogram is missing")
	case answered > r.Requests:
		return fmt.Errorf("%d statuses of %d answers", answered, r.Requests)
	case r.Service.Count() > r.Sent || r.FirstByte.Count() > r.Sent:
		return fmt.Errorf("times of %d answers to %d requests", r.Service.Count(), r.Sent)
	case r.CPU < 0 || r.Wall < 0 || !isBetween(r.Asked, maxValue) || !isBetween(r.Concurrency, maxValue):
		return errors.New("a figure is impossible")
	case len(r.Timeline) > int(MaxDuration/time.Second)+slack:
		return fmt.Errorf("%d seconds", len(r.Timeline))
	case len(r.FirstError) > maxText || len(r.Engine) > maxEngine:
		return errors.New("a text is too long")
	}
	for _, s := range r.Timeline {
		if s.Requests < 0 || s.Errors < 0 || s.At < 0 || len(s.Bins) > maxBins {
			return errors.New("a second is impossible")
		}
	}
	if err := checkSteps(r.Steps); err != nil {
		return err
	}
	return checkBlocks(r.Blocks)
}

func checkSteps(steps []StepResult) error {
	if len(steps) > maxSteps {
		return fmt.Errorf("%d steps", len(steps))
	}
	last := -1
	for _, s := range steps {
		r := s.Result
		switch {
		case s.Number <= last || s.Number >= maxSteps || s.At < 0 || !isBetween(s.Rate, maxValue):
			return errors.New("a step is impossible")
		case r == nil || r.Latency == nil || len(r.Steps) > 0 || len(r.Timeline) > 0:
			return errors.New("a step has another result than that of a step")
		case r.Sent < 0 || r.Sent > maxCount || r.Requests < 0 || r.Requests > r.Sent || r.Latency.Count() > r.Sent || r.Wall < 0 || r.Wall > MaxDuration:
			return errors.New("a count of a step is impossible")
		}
		for _, n := range r.Errors {
			if n < 0 || n > maxCount {
				return errors.New("a count of a step is impossible")
			}
		}
		if err := checkBlocks(r.Blocks); err != nil {
			return err
		}
		last = s.Number
	}
	return nil
}

// checkBlocks checks blocks from another machine: their number, and their counts by objective.
func checkBlocks(blocks []Block) error {
	if len(blocks) != 0 && len(blocks) != blockCount {
		return fmt.Errorf("%d parts", len(blocks))
	}
	for _, b := range blocks {
		counts := append([]int64{b.Sent, b.Errors, b.Answers}, b.Beyond...)
		isImpossible := slices.ContainsFunc(counts, func(n int64) bool { return n < 0 || n > maxCount })
		if isImpossible || len(b.Beyond) != countObjectives(blocks) || !isBetween(b.Sum, maxCount*float64(MaxDuration)) {
			return errors.New("a part is impossible")
		}
	}
	return nil
}

// isBetween reports whether 0 <= x < end. It returns false for NaN.
func isBetween(x, end float64) bool { return x >= 0 && x < end }
