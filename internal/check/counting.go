package check

import (
	"fmt"
	"slices"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// withoutVoid returns the input with completed trials only, without their slices and figures that
// are marked as void.
func (in Input) withoutVoid() Input {
	if !slices.ContainsFunc(in.Trials, func(t tare.Trial) bool { return !t.Counts("") }) {
		return in
	}
	type place struct {
		turn
		contender string
	}
	marked := map[place]tare.Trial{}
	var trials []tare.Trial
	for _, t := range in.Trials {
		if t.Counts("") {
			trials = append(trials, t)
			continue
		}
		marked[place{turnOf(t), t.Contender}] = t
		if t.Error != nil {
			continue
		}
		whole := t.Samples
		t.Samples = map[string]tare.Sample{}
		for w, s := range whole {
			if t.Counts(w) {
				t.Samples[w] = s
			}
		}
		trials = append(trials, t)
	}
	in.Trials = trials
	in.Slices = slices.DeleteFunc(slices.Clone(in.Slices), func(s tare.Slice) bool {
		t, ok := marked[place{turn{s.Round, max(1, s.Tau)}, s.Contender}]
		return ok && !t.Counts(s.Workload)
	})
	return in
}

// countRounds returns the number of rounds at the plan's slice length.
func (in Input) countRounds() int {
	seen := map[int]bool{}
	for _, t := range in.Trials {
		if t.Round > 0 && t.Tau <= 1 {
			seen[t.Round] = true
		}
	}
	return len(seen)
}

// voidRounds returns the first part of a sentence about void rounds: 1 of 12 rounds is void. Long
// ones are counted separately.
func (in Input) voidRounds(of []turn) string {
	short := 0
	for _, t := range of {
		if t.tau <= 1 {
			short++
		}
	}
	is := "are"
	if len(of) == 1 {
		is = "is"
	}
	switch long := format.Count(len(of)-short, "long round"); {
	case short == 0:
		return fmt.Sprintf("%s %s void", long, is)
	case short < len(of):
		return fmt.Sprintf("%d of %s and %s are void", short, format.Count(in.countRounds(), "round"), long)
	}
	return fmt.Sprintf("%d of %s %s void", short, format.Count(in.countRounds(), "round"), is)
}
