package load

import (
	"math"
	"time"

	"github.com/tarebench/tare/internal/format"
)

// blockCount is the number of equal parts (blocks) of a phase. Intervals are computed over blocks:
// consecutive responses are correlated, blocks much less so.
const blockCount = 12

// studentT is the 97.5 % quantile of Student's t with 11 degrees of freedom, for an interval at 95 %.
const studentT = 2.201

// Block counts the results of one of the equal parts of a phase.
type Block struct {
	Sent    int64 // requests that ended, with a response or not
	Errors  int64
	Answers int64   // responses and timeouts, which have a latency
	Sum     float64 // ns
	Beyond  []int64 // responses and timeouts beyond the limit, for each objective of Leg.Hold
}

func (b *Block) addBlock(o Block) {
	b.Sent, b.Errors, b.Answers, b.Sum = b.Sent+o.Sent, b.Errors+o.Errors, b.Answers+o.Answers, b.Sum+o.Sum
	for i, n := range o.Beyond {
		b.Beyond[i] += n
	}
}

// newBlocks returns the blocks of a phase, or nil if no intervals are needed.
func newBlocks(leg Leg) []Block {
	if len(leg.Hold) == 0 || leg.Duration == 0 {
		return nil
	}
	return makeBlocks(len(leg.Hold))
}

func makeBlocks(objectives int) []Block {
	list := make([]Block, blockCount)
	for i := range list {
		list[i].Beyond = make([]int64, objectives)
	}
	return list
}

func countObjectives(list []Block) int {
	if len(list) == 0 {
		return 0
	}
	return len(list[0].Beyond)
}

// blockAt returns the block of time now, in ns, or nil if there are no blocks.
func (m *recorder) blockAt(now int64) *Block {
	if m.blocks == nil {
		return nil
	}
	i := (now - m.r.begin.Load()) * blockCount / int64(m.r.leg.Duration)
	return &m.blocks[min(max(0, i), blockCount-1)]
}

// recordLatency records a latency in ns. b may be nil.
func (b *Block) recordLatency(s SLO, latency int64) {
	if b == nil {
		return
	}
	b.Answers++
	b.Sum += float64(latency)
	for i := range s {
		if s[i].isBeyond(float64(latency)) {
			b.Beyond[i]++
		}
	}
}

func (b *Block) recordError() {
	if b != nil {
		b.Errors++
	}
}

func (b *Block) recordEnd() {
	if b != nil {
		b.Sent++
	}
}

// isBeyond reports whether a latency in ns misses the objective.
func (o Objective) isBeyond(latency float64) bool {
	return latency > o.Limit || o.Below && latency == o.Limit
}

// computeInterval returns the value of objective i with its interval at 95 %. For a quantile, the value is
// the share of responses beyond the limit.
func (o Objective) computeInterval(list []Block, i int) (share, low, high float64, ok bool) {
	var x, n [blockCount]float64 // the value is the sum of x over the sum of n
	if len(list) != blockCount || o.Max {
		return 0, 0, 0, false
	}
	for k, b := range list {
		switch n[k] = float64(b.Answers); {
		case o.Errors:
			x[k], n[k] = float64(b.Errors), float64(b.Sent)
		case o.Mean:
			x[k] = b.Sum
		case i < len(b.Beyond):
			x[k] = float64(b.Beyond[i])
		default:
			return 0, 0, 0, false
		}
	}
	return ratioInterval(x, n, !o.Mean)
}

// ratioInterval returns Σx/Σn with its interval at 95 %, by the ratio estimator over blocks. The interval
// of a share is at least as wide as for independent responses. That width uses the share (Σx+1)/(Σn+2),
// which is never zero.
func ratioInterval(x, n [blockCount]float64, share bool) (r, low, high float64, ok bool) {
	var sx, sn, squares float64
	for k := range x {
		sx, sn = sx+x[k], sn+n[k]
	}
	if sn == 0 {
		return 0, 0, 0, false
	}
	r = sx / sn
	for k := range x {
		d := x[k] - r*n[k]
		squares += d * d
	}
	se := math.Sqrt(squares*blockCount/(blockCount-1)) / sn
	if share {
		p := (sx + 1) / (sn + 2)
		se = max(se, math.Sqrt(p*(1-p)/sn))
		return r, max(0, r-studentT*se), min(1, r+studentT*se), true
	}
	return r, max(0, r-studentT*se), r + studentT*se, true
}

// addInterval sets the interval of o, the outcome of objective i. The outcome is undecided if the interval
// contains the allowed value. Without errors, an objective on errors counts as met. A short phase could
// never prove it: one failure in a thousand would always remain possible.
func (o *Outcome) addInterval(list []Block, i int) {
	share, low, high, ok := o.Objective.computeInterval(list, i)
	if !ok {
		return
	}
	allowed := o.Objective.Limit
	if o.Objective.Quantile > 0 {
		allowed = 1 - o.Objective.Quantile
	}
	o.Seen, o.Share, o.Low, o.High = true, share, low, high
	noErrors := o.Objective.Errors && share == 0
	o.Undecided = low <= allowed && allowed <= high && !noErrors
}

// Interval returns the interval in words, or "" if it was not computed.
func (o Outcome) Interval() string {
	from, to := format.Percent(o.Low), format.Percent(o.High)
	switch {
	case !o.Seen:
		return ""
	case o.Objective.Errors:
		return from + " to " + to + " fail, " + o.Objective.formatLimit() + " may"
	case o.Objective.Mean:
		return "the mean is " + formatDuration(time.Duration(o.Low)) + " to " + formatDuration(time.Duration(o.High))
	}
	return from + " to " + to + " take longer than " + o.Objective.formatLimit() + ", " + format.Percent(1-o.Objective.Quantile) + " may"
}
