package receipt

import (
	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// Outcome is the result of verifying a receipt or a row.
type Outcome string

// Outcomes, from the best to the worst.
const (
	Holds   Outcome = "holds"
	Open    Outcome = "undecided"
	DoesNot Outcome = "does not hold"
)

// Checked is a row of a receipt next to what was measured again.
type Checked struct {
	Then    Row     `json:"then"`
	Now     *Row    `json:"now,omitempty"` // nil: it was not measured again
	Outcome Outcome `json:"outcome"`
}

// Check compares the rows of a receipt with a new result. The worst outcome is that of
// the receipt.
func (c Receipt) Check(now *tare.Result) (rows []Checked, worst Outcome) {
	worst = Holds
	again := map[string]Row{}
	for _, row := range Rows(now) {
		again[row.Benchmark+"\x00"+row.Metric] = row
	}
	for _, then := range c.Rows {
		checked := Checked{Then: then, Outcome: Open}
		if row, ok := again[then.Benchmark+"\x00"+then.Metric]; ok {
			checked.Now, checked.Outcome = &row, judgeRow(then, row)
		}
		if checked.Outcome == DoesNot || worst == Holds {
			worst = checked.Outcome
		}
		rows = append(rows, checked)
	}
	return rows, worst
}

// judgeRow compares a row with one that was measured again. Intervals that do not overlap,
// and claims of both sides, contradict each other. A claim that the new row neither
// repeats nor contradicts is undecided.
func judgeRow(then, now Row) Outcome {
	apart := then.High < now.Low || now.High < then.Low
	switch {
	case !then.hasInterval() || !now.hasInterval():
		return Open // too few rounds
	case apart && (then.Claim != now.Claim || then.Claim == Undecided):
		return DoesNot
	case then.Claim == now.Claim, then.Claim == Undecided:
		return Holds
	case now.Claim != Undecided:
		return DoesNot
	}
	return Open
}

// hasInterval reports whether the row has an interval.
func (r Row) hasInterval() bool { return r.Low > 0 && r.High > 0 }

// String returns the ratio with its interval.
func (r Row) String() string {
	if !r.hasInterval() {
		return format.Times(r.Ratio) + " (no interval)"
	}
	return format.Within(r.Ratio, r.Low, r.High)
}

// Result returns what a command needs of a result to be given again.
func (c Receipt) Result() *tare.Result {
	r := &tare.Result{Study: c.Study}
	r.Started, r.Seed = c.Made, c.Seed
	r.Asked = tare.Asked{Command: c.Command, WorkDir: c.Dir, Files: c.Files}
	for _, side := range c.Sides {
		r.Contenders = append(r.Contenders, tare.Contender{ID: side.ID, Version: side.Version})
	}
	return r
}
