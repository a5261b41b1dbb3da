package judge

import (
	"fmt"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/format"
)

// This file judges published claims of a number of modules, such as "adds 30 dependencies".

// judgeModuleCount judges a claim that a contender needs c.Value more modules than the baseline. It
// counts those that go.mod requires, as users see these, or else those in the binary.
func (j *judge) judgeModuleCount(r *tare.ClaimResult, c tare.Claim) {
	contender, _ := j.evidence.Contender(c.Contender)
	base, _ := j.evidence.Contender(j.evidence.Study.Baseline)
	for _, side := range []tare.Contender{contender, base} {
		if why := whyUncounted(side, j.findings); why != "" {
			setNotMeasured(r, why)
			return
		}
	}
	linked := contender.Adoption.ModulesLinked - base.Adoption.ModulesLinked
	r.Measured, r.Evidence = float64(linked), fmt.Sprintf("modules linked into the binaries of %s and %s", contender.ID, base.ID)
	added := fmt.Sprintf("its binary links %d more than that of %s", linked, base.ID)
	if n := contender.Adoption.ModulesRequired; n > 0 {
		required := n - base.Adoption.ModulesRequired
		r.Measured, r.Evidence = float64(required), fmt.Sprintf("modules that the go.mod of %s and of %s require", contender.ID, base.ID)
		added = fmt.Sprintf("its go.mod requires %d more than that of %s, and its binary links %d more", required, base.ID, linked)
	}
	within := "not within"
	r.Outcome = tare.Refuted
	if isNear := c.Value/holdsWithin <= r.Measured && r.Measured <= c.Value*holdsWithin; isNear {
		within = "within"
		r.Outcome = tare.Holds
	}
	r.Why = fmt.Sprintf("published %s, counted %.0f: %s; %s 1.25× of the published number", format.Significant(c.Value), r.Measured, added, within)
}

// whyUncounted returns why the number of modules of c is unknown, or "". It ignores findings about one
// workload or metric, because they are not about the binary.
func whyUncounted(c tare.Contender, findings []tare.Finding) string {
	for _, f := range findings {
		isAboutAll := f.Workload == "" && f.Metric == ""
		if f.Severity == tare.Void && f.Contender == c.ID && isAboutAll {
			return fmt.Sprintf("%s is void by %s: %s", c.ID, f.Check, f.Message)
		}
	}
	switch {
	case c.Absent():
		return c.ID + " is " + c.Error
	case c.Error != "":
		return c.ID + " could not be built: " + c.Error
	case c.Launch == tare.LaunchCommand, c.Launch == tare.LaunchURL:
		return c.ID + " was not built by tare, so its modules are not known"
	case c.Go == "":
		return c.ID + " has a binary without build information"
	}
	return ""
}
