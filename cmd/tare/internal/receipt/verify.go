package receipt

import (
	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// A receipt has the findings of a comparison of two revisions, in rows such as "BenchmarkEncode takes 1.12 times
// as long, interval 1.10 to 1.14". This file compares them with a new measurement of the same revisions.

// Outcome is the result of verifying a receipt or one of its rows.
type Outcome string

// Outcomes, from the best to the worst.
const (
	Holds   Outcome = "holds"
	Open    Outcome = "undecided"
	DoesNot Outcome = "does not hold"
)

// Checked is a row of a receipt next to the row of the new measurement.
type Checked struct {
	Then    Row     `json:"then"`
	Now     *Row    `json:"now,omitempty"` // nil if it was not measured again
	Outcome Outcome `json:"outcome"`
}

// Check compares the rows of a receipt with a new result. The worst outcome of a row is
// the outcome of the receipt.
func (c Receipt) Check(now *tare.Result) (rows []Checked, worst Outcome) {
	worst = Holds
	type key struct{ benchmark, metric string }
	newRows := map[key]Row{}
	for _, row := range Rows(now) {
		newRows[key{row.Benchmark, row.Metric}] = row
	}
	for _, then := range c.Rows {
		checked := Checked{Then: then, Outcome: Open}
		if row, ok := newRows[key{then.Benchmark, then.Metric}]; ok {
			checked.Now, checked.Outcome = &row, judgeRow(then, row)
		}
		if checked.Outcome == DoesNot || worst == Holds { // worse than, or as bad as, worst
			worst = checked.Outcome
		}
		rows = append(rows, checked)
	}
	return rows, worst
}

// judgeRow compares a row of a receipt with the row that was measured now, by the intervals of their ratios
// and by their claims: less, more or undecided.
func judgeRow(then, now Row) Outcome {
	areDisjoint := then.High < now.Low || now.High < then.Low // the intervals
	claimSame := then.Claim == now.Claim
	claimOpposites := !claimSame && then.Claim != Undecided && now.Claim != Undecided
	switch {
	case !then.hasInterval() || !now.hasInterval():
		return Open // too few rounds
	case claimOpposites:
		return DoesNot
	case areDisjoint && (!claimSame || then.Claim == Undecided):
		return DoesNot
	case claimSame, then.Claim == Undecided:
		return Holds
	}
	return Open // a claimed difference that is undecided now
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

// Result returns a result with the fields that are needed to run its command again.
func (c Receipt) Result() *tare.Result {
	r := &tare.Result{Study: c.Study}
	r.Started, r.Seed = c.Made, c.Seed
	r.Asked = tare.Asked{Command: c.Command, WorkDir: c.Dir, Files: c.Files}
	for _, side := range c.Sides {
		r.Contenders = append(r.Contenders, tare.Contender{ID: side.ID, Version: side.Version})
	}
	return r
}
