package report

import (
	"strings"

	"github.com/tarebench/tare"
)

// notes say what a contender is and why its figures do not count.
func (v *view) notes(c tare.Contender) []string {
	var notes []string
	switch c.Role {
	case tare.RoleControl:
		notes = v.once(notes, "the baseline a second time: whatever it differs by is noise")
	case tare.RoleNull:
		notes = v.once(notes, v.harness())
	default:
		if text := identity(c); text != "" {
			notes = append(notes, text)
		}
		if c.Role == tare.RoleTrap && c.Why != "" {
			notes = v.once(notes, "trap: "+c.Why)
		}
		if c.Role == tare.RoleApart {
			notes = append(notes, standsApart)
			if c.Why != "" && c.Launch != tare.LaunchCommand { // which is said already
				notes = v.once(notes, c.Why)
			}
		}
	}
	seen := map[string]bool{}
	for _, f := range v.r.Findings { // of other workloads too: it was expected of the contender
		if f.Severity == tare.Void && f.Contender == c.ID {
			seen[f.Check] = true
		}
	}
	for _, f := range voiding(v.r, c.ID, v.workload) {
		seen[f.Check] = true
		if f.Contender == "" {
			continue // speaks of everybody: it stands under the findings
		}
		short := strings.TrimSpace(f.Metric + " void by " + f.Check)
		if f.Expected {
			short += ", as expected"
		}
		if full := short + ": " + f.Message; !v.told[c.ID+full] {
			v.told[c.ID+full] = true
			notes = append(notes, full)
			continue
		}
		notes = append(notes, short)
	}
	if c.Role == tare.RoleTrap {
		for _, check := range c.Expect.Void {
			if !seen[check] {
				notes = append(notes, unsettled(v.r, c.ID, check))
			}
		}
	}
	return notes
}

// standsApart is what the figures of somebody who stands apart are not shown
// without.
const standsApart = "apart: answers by status only"

// harness says what the null contender is.
func (v *view) harness() string {
	if v.hasTraffic() {
		return "a server that does as little as a server can: this much of every figure is the harness and the system"
	}
	return "does nothing: this much of every figure is the harness itself"
}

// identity is who a contender is: name and version, how it was started where it
// was not built here, and how it is configured.
func identity(c tare.Contender) string {
	var parts []string
	switch {
	case c.Launch == tare.LaunchCommand:
		parts = append(parts, "started by: "+strings.Join(c.Command, " "))
	case c.Launch == tare.LaunchURL:
		parts = append(parts, "at "+c.URL)
	case c.Name != "":
		parts = append(parts, c.String())
	}
	if set := chosen(c.Set); set != "" {
		parts = append(parts, "with "+set)
	}
	return strings.Join(parts, ", ")
}

// once adds a note that has not been printed under an earlier workload.
func (v *view) once(notes []string, note string) []string {
	if v.told[note] {
		return notes
	}
	v.told[note] = true
	return append(notes, note)
}
