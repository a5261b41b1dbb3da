package session

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/plan"
	"github.com/tarebench/tare/lab"
)

func describePlan(e lab.Event) string {
	text := format.Count(e.Rounds, "round")
	if e.Plan != nil {
		perRound := time.Duration(e.Plan.SecondsPerRound * float64(time.Second))
		text += fmt.Sprintf(" of %s planned, %s", formatSpan(perRound), formatSpan(time.Duration(e.Rounds)*perRound))
		if len(e.Plan.Looks) > 1 {
			text += ", fewer if everything is answered before"
		}
		if e.Plan.Stretched {
			text += " (the budget was stretched to the fewest rounds that allow a verdict)"
		}
		if minRounds := plan.IntervalRounds(len(e.Plan.Slices), len(e.Plan.Looks)); e.Rounds < minRounds {
			text += fmt.Sprintf(" (too few for intervals on %s: that takes %s)", format.Count(len(e.Plan.Slices), "workload"), format.Count(minRounds, "round"))
		}
	}
	if e.Message != "" {
		text = format.Line(e.Message, 0) + "; " + text
	}
	return text
}

// timeLeft returns "at most" the rest of the budget. Without a budget, or if it is used up or stretched, it
// estimates "about" the time of the remaining rounds. Less than a second counts as 0.
func timeLeft(e lab.Event) (words string, remaining time.Duration) {
	var estimate time.Duration
	hasBudget := true
	if e.Plan != nil {
		estimate = time.Duration(float64(e.Rounds-e.Round) * e.Plan.SecondsPerRound * float64(time.Second))
		hasBudget = e.Plan.BudgetSeconds > 0 && !e.Plan.Stretched
	}
	switch {
	case hasBudget && e.Left >= time.Second:
		return "at most", e.Left
	case estimate >= time.Second:
		return "about", estimate
	}
	return "", 0
}

// formatClock returns a duration as minutes and seconds, such as 0:14.
func formatClock(d time.Duration) string {
	s := int(d.Round(time.Second).Seconds())
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// formatSpan rounds d to seconds, unless it is shorter than one.
func formatSpan(d time.Duration) string {
	if d >= time.Second {
		d = d.Round(time.Second)
	}
	return format.Span(d.Seconds())
}

func describeStop(why string) string {
	switch why {
	case lab.Decided:
		return ": every question is answered"
	case lab.Unanswerable:
		return ": stopped early, because everything that its questions are about is void"
	case lab.BudgetSpent:
		return ": the budget is spent"
	case lab.Interrupted:
		return ": interrupted"
	}
	return ""
}

// DescribeOptions describes the options that select and configure what is measured, e.g. "quick budget, 12
// rounds, only gin-new".
func DescribeOptions(o Options) string {
	var parts []string
	switch {
	case o.User:
		parts = append(parts, "budget "+o.Budget.String())
	case o.Quick:
		parts = append(parts, "quick budget")
	default:
		parts = append(parts, "full budget")
	}
	if o.Rounds > 0 {
		parts = append(parts, format.Count(o.Rounds, "round"))
	}
	if o.Until > 0 {
		parts = append(parts, "until decided to "+format.Percent(o.Until))
	}
	if o.Isolation == tare.TrialWise {
		parts = append(parts, "whole trials")
	}
	if only := slices.Concat(o.Only.Contenders, o.Only.Workloads); len(only) > 0 {
		parts = append(parts, "only "+strings.Join(only, " "))
	}
	for _, w := range o.With {
		parts = append(parts, "with "+w)
	}
	if o.Release != "" {
		parts = append(parts, "built by "+o.Release)
	}
	if o.Procs > 0 {
		parts = append(parts, format.Count(o.Procs, "processor"))
	}
	if o.KeepEnv {
		parts = append(parts, o.Env...)
	} else {
		parts = append(parts, MaskEnv(o.Env)...)
	}
	return strings.Join(parts, ", ")
}
