package load

import (
	"math"
	"time"

	"github.com/tarebench/tare/internal/format"
)

// blocks is how many parts of equal length a leg is cut into for the intervals of
// objectives: answers resemble their neighbours, parts of a leg do much less.
const blocks = 12

// student is Student's t for an interval at 95 % from so many parts: with 11 degrees of
// freedom, 97.5 % lie below it.
const student = 2.201

// Block is what happened in one of those parts.
type Block struct {
	Sent    int64   // requests whose answer came, or was given up, in it
	Errors  int64   // of any class
	Answers int64   // that have a latency
	Sum     float64 // of those latencies, ns
	Beyond  []int64 // of them, longer than the limit of each of Leg.Hold; as long, too, where they are to be below
}

func (b *Block) add(o Block) {
	b.Sent, b.Errors, b.Answers, b.Sum = b.Sent+o.Sent, b.Errors+o.Errors, b.Answers+o.Answers, b.Sum+o.Sum
	for i, n := range o.Beyond {
		b.Beyond[i] += n
	}
}

// newBlocks are those of a leg; nil: no intervals are wanted.
func newBlocks(leg Leg) []Block {
	if len(leg.Hold) == 0 || leg.Duration == 0 {
		return nil
	}
	list := make([]Block, blocks)
	for i := range list {
		list[i].Beyond = make([]int64, len(leg.Hold))
	}
	return list
}

// block is the one that now is in; nil: there are none. What comes after the end
// belongs to the last.
func (m *recorder) block(now int64) *Block {
	if m.blocks == nil {
		return nil
	}
	at := (now - m.r.begin.Load()) * blocks / int64(m.r.leg.Duration)
	return &m.blocks[min(max(0, at), blocks-1)]
}

// lasted puts a latency down.
func (b *Block) lasted(s SLO, latency int64) {
	if b == nil {
		return
	}
	b.Answers++
	b.Sum += float64(latency)
	for i := range s {
		if s[i].beyond(float64(latency)) {
			b.Beyond[i]++
		}
	}
}

// failed puts an error down, ended that a request is over.
func (b *Block) failed() {
	if b != nil {
		b.Errors++
	}
}

func (b *Block) ended() {
	if b != nil {
		b.Sent++
	}
}

// beyond reports whether a latency is one that the objective does not want.
func (o Objective) beyond(latency float64) bool {
	return latency > o.Limit || o.Below && latency == o.Limit
}

// interval of objective i at 95 %: of a quantile that of the share of the answers
// that lie beyond its limit, of the others that of their value; false: there is none.
func (o Objective) interval(list []Block, i int) (share, low, high float64, ok bool) {
	var x, n [blocks]float64
	if len(list) != blocks || o.Max {
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
	return ratio(x, n, !o.Mean)
}

// ratio is Σx/Σn with its interval at 95 %, by the ratio estimator over parts. That of a
// share is not narrower than if answers knew nothing of each other.
func ratio(x, n [blocks]float64, share bool) (r, low, high float64, ok bool) {
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
	se := math.Sqrt(squares*blocks/(blocks-1)) / sn
	if share {
		p := (sx + 1) / (sn + 2)
		se = max(se, math.Sqrt(p*(1-p)/sn))
		return r, max(0, r-student*se), min(1, r+student*se), true
	}
	return r, max(0, r-student*se), r + student*se, true
}

// measure says whether the interval of an outcome decides it. No error at all is no
// doubt: few requests could never prove that one in a thousand fails at most.
func (o *Outcome) judge(list []Block, i int) {
	share, low, high, ok := o.Objective.interval(list, i)
	if !ok {
		return
	}
	allowed := o.Objective.Limit
	if o.Objective.Quantile > 0 {
		allowed = 1 - o.Objective.Quantile
	}
	o.Seen, o.Share, o.Low, o.High = true, share, low, high
	o.Undecided = low <= allowed && high >= allowed && !(o.Objective.Errors && share == 0)
}

// Interval says what the ruling rests on; empty: there is no interval.
func (o Outcome) Interval() string {
	from, to := format.Percent(o.Low), format.Percent(o.High)
	switch {
	case !o.Seen:
		return ""
	case o.Objective.Errors:
		return from + " to " + to + " fail, " + o.Objective.limit() + " may"
	case o.Objective.Mean:
		return "the mean is " + short(time.Duration(o.Low)) + " to " + short(time.Duration(o.High))
	}
	return from + " to " + to + " take longer than " + o.Objective.limit() + ", " + format.Percent(1-o.Objective.Quantile) + " may"
}
