package doctor

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/plan"
	"github.com/tarebench/tare/report"
	"github.com/tarebench/tare/stats"
)

// This file computes the report of tare doctor --calibrate. For example: "5 % more arithmetic was found
// after 12 rounds (4 s): measured +5.03 % (+4.61 % to +5.47 %)". A study repeats its measurement in
// rounds. A look judges the evidence after some number of rounds. The control is the base program
// entered a second time: a difference between both is noise.

type calibration struct {
	Summary []string          `json:"summary"` // results in sentences
	Advice  []string          `json:"advice"`
	Bases   []scaleReading    `json:"bases"`   // one per kind of work
	Results []json.RawMessage `json:"results"` // the complete result of each base

	disturbances []disturbance
}

// disturbance has the observations of the checks with the same advice.
type disturbance struct {
	advice       string
	observations []string
}

type scaleReading struct {
	Work        string        `json:"work"` // arithmetic or allocation
	Study       string        `json:"study"`
	Rounds      int           `json:"rounds"`
	Seconds     float64       `json:"seconds"`
	HalfWidth   float64       `json:"half_width"`   // share of the control's interval: 0.02 is ±2 %; 0 without an interval
	CPUPressure float64       `json:"cpu_pressure"` // share of time with a task waiting for a processor; negative if unknown
	Copies      scaleEffect   `json:"copies"`       // measured difference of the base and its copy
	Differences []scaleEffect `json:"differences"`  // known differences, largest first
}

// scaleEffect is one program's time relative to the base's.
type scaleEffect struct {
	Contender    string  `json:"contender"`
	Truth        float64 `json:"truth"` // ratio by construction
	Ratio        float64 `json:"ratio,omitempty"`
	Low          float64 `json:"low,omitempty"` // bounds of the 95 % interval over all looks; 0 if too few rounds
	High         float64 `json:"high,omitempty"`
	ToldApart    bool    `json:"told_apart"`             // a study would publish a difference
	AfterRounds  int     `json:"after_rounds,omitempty"` // first look of those since which all show it
	AfterSeconds float64 `json:"after_seconds,omitempty"`
	RoundsNeeded int     `json:"rounds_needed,omitempty"` // forecast if no difference was shown; 0 if out of reach
}

// readScale reads the primary metric of a result, which is the first of res.Metrics.
func readScale(work scaleWork, res *tare.Result) scaleReading {
	r := scaleReading{
		Work: work.noun, Study: res.Study, Rounds: res.RoundsDone, Seconds: res.Seconds, CPUPressure: res.Machine.Noise.CPUPressure,
		Copies:      readEffect(res, scaleTwin, 1),
		Differences: []scaleEffect{readEffect(res, scale5, 1.05), readEffect(res, scale2, 1.02)},
	}
	for _, x := range res.Machine.Resolution {
		if x.Metric == res.Metrics[0] {
			r.HalfWidth = x.HalfWidth
		}
	}
	return r
}

// readEffect returns the effect of contender id at the end, and the first look since which all looks
// show a difference. truth is the ratio by construction.
func readEffect(res *tare.Result, id string, truth float64) scaleEffect {
	e := scaleEffect{Contender: id, Truth: truth}
	alpha := 0.05 // 1 - the level of the comparison
	for _, c := range res.Comparisons {
		if c.Contender == id && c.Metric == res.Metrics[0] {
			e.Ratio, e.Low, e.High, alpha = c.Ratio, c.Low, c.High, 1-c.Level
		}
	}
	effects, control := roundEffects(res, id), roundEffects(res, tare.ControlID)
	looks := stats.Looks(len(effects))
	level := stats.LookLevel(alpha, len(looks))
	for _, n := range slices.Backward(looks) { // from the last look back, while looks show a difference
		if !isPublished(effects, control, n, level) {
			break
		}
		e.AfterRounds = n
	}
	e.ToldApart = e.AfterRounds > 0
	if e.ToldApart {
		pilot := res.Plan.PilotSeconds // seconds of the trial measurement before the rounds, which took equally long
		e.AfterSeconds = pilot + (res.Seconds-pilot)*float64(e.AfterRounds)/float64(max(1, res.RoundsDone))
	} else if truth != 1 {
		e.RoundsNeeded = forecastRounds(effects, control, truth, level)
	}
	return e
}

// forecastRounds returns the number of rounds that would probably show the ratio truth. It returns 0 if
// more than plan.MaxRounds are needed. effects and control are logarithms of ratios, one per round.
// Intervals shrink with the root of the rounds.
func forecastRounds(effects, control []float64, truth, level float64) int {
	centred := make([]float64, len(effects)) // the rounds, moved to the true effect
	estimate := stats.HodgesLehmann(effects)
	for i := range effects {
		centred[i] = effects[i] - estimate + math.Log(truth)
	}
	const equality = 0 // the logarithm of a ratio of 1
	n, ok := stats.RoundsNeeded(centred, level, plan.MaxRounds, equality)
	if !ok {
		return 0
	}
	n = max(n, len(effects)*3/2) // at least half as many more
	if half, ok := stats.HalfWidth(control, level); ok {
		ratio := half / math.Log(truth)
		n = max(n, int(math.Ceil(float64(len(control))*ratio*ratio)))
	}
	if n > plan.MaxRounds {
		return 0
	}
	return n
}

// isPublished reports whether a study would publish a difference after n rounds. Its interval must
// exclude equality, and its estimate must exceed the noise of the control.
func isPublished(effects, control []float64, n int, level float64) bool {
	if len(control) < n {
		return false
	}
	_, exceedsControl := stats.Differs(effects[:n], control[:n], level)
	return exceedsControl
}

// roundEffects returns ln(time / time of the base) of contender id for each round.
func roundEffects(res *tare.Result, id string) []float64 {
	var workload string // "" if the study ended before it had a workload
	for _, w := range res.Workloads {
		workload = w.ID
	}
	e, _ := tare.EffectsOf(res.Rounds, workload, res.Metrics[0], id, scaleBase)
	return e.Effects
}

func (c *calibration) writeConclusions() {
	copiesEqual := c.concludeCopies()
	allFound := c.concludeDifferences()
	c.concludeMachine()
	for _, d := range c.disturbances {
		c.addAdvice("%s: %s", d.advice, strings.Join(d.observations, "; "))
	}
	if copiesEqual && allFound && len(c.Advice) == 0 {
		c.addAdvice("none: copies look alike, and 2 %% and 5 %% were found")
	}
}

// concludeCopies writes a sentence about the two copies of each base.
func (c *calibration) concludeCopies() (copiesEqual bool) {
	copiesEqual = true
	for _, b := range c.Bases {
		switch {
		case b.Copies.Ratio == 0:
			c.addSentence("Two copies of one program, %s, were not measured: %s was lost on the way.", b.Work, b.Copies.Contender)
			c.addAdvice("tare report %s shows the result of %s", b.Study, b.Copies.Contender)
		case b.Copies.ToldApart:
			c.addSentence("Two copies of one program, %s, showed a difference after %s, and should not have: measured %s.", b.Work, format.Count(b.Copies.AfterRounds, "round"), b.Copies.formatInterval())
			c.addAdvice("two copies of one program differed by %s: believe no difference that is not clearly larger, and calibrate again", formatPercent(b.Copies.Ratio-1))
			copiesEqual = false
		default:
			c.addSentence("Two copies of one program, %s, showed no difference in %s, as it should be: measured %s.", b.Work, format.Count(b.Rounds, "round"), b.Copies.formatInterval())
		}
	}
	return copiesEqual
}

func (c *calibration) concludeDifferences() (allFound bool) {
	allFound = true
	for _, b := range c.Bases {
		perRound := b.Seconds / float64(max(1, b.Rounds))
		for _, d := range b.Differences {
			truth := formatPercent(d.Truth - 1)
			switch {
			case d.Ratio == 0:
				c.addSentence("%s more %s was not measured: %s was lost on the way.", truth, b.Work, d.Contender)
				c.addAdvice("tare report %s shows the result of %s", b.Study, d.Contender)
			case d.ToldApart && d.Ratio > 1:
				c.addSentence("%s more %s was found after %s (%.0f s): measured %s.", truth, b.Work, format.Count(d.AfterRounds, "round"), d.AfterSeconds, d.formatInterval())
				continue
			case d.ToldApart:
				c.addSentence("%s more %s came out as less after %s: measured %s.", truth, b.Work, format.Count(d.AfterRounds, "round"), d.formatInterval())
				c.addAdvice("%s more %s came out as less: believe no difference of that size here, and calibrate again", truth, b.Work)
			case d.RoundsNeeded > 0:
				needed := cmdenv.Seconds(time.Duration(math.Ceil(perRound*float64(d.RoundsNeeded))) * time.Second)
				c.addSentence("%s more %s was not found in %s (%.0f s): measured %s.", truth, b.Work, format.Count(b.Rounds, "round"), b.Seconds, d.formatInterval())
				c.addAdvice("differences of %s in %s take about %s on this machine: give a study like this one about %s", truth, b.Work, format.Count(d.RoundsNeeded, "round"), needed)
			default:
				c.addSentence("%s more %s was not found in %s (%.0f s): measured %s.", truth, b.Work, format.Count(b.Rounds, "round"), b.Seconds, d.formatInterval())
				c.addAdvice("differences of %s in %s are out of reach on this machine: %d rounds are not expected to show them", truth, b.Work, plan.MaxRounds)
			}
			allFound = false
		}
	}
	return allFound
}

func (c *calibration) concludeMachine() {
	var resolutions, pressures []string
	for _, b := range c.Bases {
		if b.HalfWidth > 0 {
			resolutions = append(resolutions, fmt.Sprintf("±%s of time in %.0f s of %s", formatPercent(b.HalfWidth), b.Seconds, b.Work))
		}
		if b.CPUPressure >= 0 {
			pressures = append(pressures, fmt.Sprintf("%.0f %% of the time during %s", 100*b.CPUPressure, b.Work))
		}
	}
	if len(resolutions) > 0 {
		c.addSentence("This machine resolves %s: two copies of one program may seem to differ by that much.", strings.Join(resolutions, ", and "))
	}
	if len(pressures) > 0 {
		c.addSentence("Meanwhile some task waited for a processor %s (CPU pressure).", strings.Join(pressures, ", and "))
	} else {
		c.addSentence("This machine does not tell its CPU pressure.")
	}
}

func (c *calibration) addSentence(format string, args ...any) {
	c.Summary = append(c.Summary, fmt.Sprintf(format, args...))
}

func (c *calibration) addDisturbance(advice, observation string, work scaleWork) {
	observation = "during " + work.noun + " " + observation
	i := slices.IndexFunc(c.disturbances, func(d disturbance) bool { return d.advice == advice })
	if i < 0 {
		c.disturbances = append(c.disturbances, disturbance{advice: advice, observations: []string{observation}})
		return
	}
	c.disturbances[i].observations = append(c.disturbances[i].observations, observation)
}

func (c *calibration) addAdvice(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(c.Advice, text) {
		c.Advice = append(c.Advice, text)
	}
}

// formatInterval returns the difference with its interval: +5.03 % (+4.61 % to +5.47 %).
func (e scaleEffect) formatInterval() string {
	if e.Low == 0 {
		return format.Change(e.Ratio, 2) + " (too few rounds for an interval)"
	}
	return fmt.Sprintf("%s (%s to %s)", format.Change(e.Ratio, 2), format.Change(e.Low, 2), format.Change(e.High, 2))
}

func formatPercent(share float64) string { return fmt.Sprintf("%.2g %%", 100*share) }

func (c calibration) writeText(w io.Writer, st report.Style) error {
	fmt.Fprintln(w, cmdenv.Paint(st.Bold, "What this machine can tell apart"))
	for _, text := range c.Summary {
		cmdenv.Paragraph(w, "  ", "    ", text, st.Width)
	}
	fmt.Fprintf(w, "\n%s\n", cmdenv.Paint(st.Bold, "Advice"))
	for _, text := range c.Advice {
		cmdenv.Paragraph(w, "  ", "    ", text, st.Width)
	}
	_, err := fmt.Fprintln(w)
	for _, b := range c.Bases {
		if err == nil {
			_, err = fmt.Fprintf(w, "tare report %s prints all that was measured of %s.\n", b.Study, b.Work)
		}
	}
	return err
}
