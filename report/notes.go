package report

import (
	"slices"
	"strings"

	"github.com/tarebench/tare"
)

// listNotes returns the notes below a contender's row: its identity, and why values do not count. Notes in v.shown
// are shortened or omitted.
func (v *view) listNotes(c tare.Contender) []string {
	var notes []string
	switch c.Role {
	case tare.RoleControl:
		notes = v.noteOnce(notes, "the baseline a second time: whatever it differs by is noise")
	case tare.RoleNull:
		notes = v.noteOnce(notes, v.describeNull())
	default:
		if text := describeIdentity(c); text != "" {
			notes = append(notes, text)
		}
		if c.Role == tare.RoleTrap && c.Why != "" {
			notes = v.noteOnce(notes, "wrong on purpose: "+c.Why)
		}
		if c.Role == tare.RoleApart {
			notes = append(notes, statusOnlyNote)
			if c.Why != "" && c.Launch != tare.LaunchCommand { // the identity has the command
				notes = v.noteOnce(notes, c.Why)
			}
		}
	}
	for _, f := range listVoids(v.r, c.ID, v.workload) {
		if f.Contender == "" {
			continue // findings about all contenders are elsewhere
		}
		short := strings.TrimSpace(f.Metric + " void by the check " + f.Check)
		if f.Expected {
			short += ", which had to find it"
		}
		if full := short + ": " + f.Message; !v.shown[c.ID+full] {
			v.shown[c.ID+full] = true
			notes = append(notes, full)
			continue
		}
		notes = append(notes, short)
	}
	if c.Role == tare.RoleTrap {
		for _, check := range c.Expect.Void {
			isExpected := func(f tare.Finding) bool { // on any workload: expectations name none
				isAboutTrap := f.Contender == c.ID
				isAboutAll := f.Contender == "" && f.Covers(c.ID, v.workload)
				return f.Severity == tare.Void && f.Check == check && (isAboutTrap || isAboutAll)
			}
			if !slices.ContainsFunc(v.r.Findings, isExpected) {
				notes = append(notes, whyNotVoid(v.r, c.ID, check))
			}
		}
	}
	return notes
}

const statusOnlyNote = "apart: only the status of its responses was checked"

// describeNull describes the contender that does nothing, which shows the cost of measuring itself.
func (v *view) describeNull() string {
	if v.hasTraffic() {
		return "a server that does as little as a server can: this much of every figure is the harness and the system"
	}
	return "does nothing: this much of every figure is the harness itself"
}

// describeIdentity returns name, version and settings of a contender. Without a build, it has the command or URL.
func describeIdentity(c tare.Contender) string {
	var parts []string
	switch {
	case c.Launch == tare.LaunchCommand:
		parts = append(parts, "started by: "+strings.Join(c.Command, " "))
	case c.Launch == tare.LaunchURL:
		parts = append(parts, "at "+c.URL)
	case c.Name != "":
		parts = append(parts, c.String())
	}
	if set := formatSettings(c.Set); set != "" {
		parts = append(parts, "with "+set)
	}
	return strings.Join(parts, ", ")
}

// noteOnce appends a note that no earlier workload has.
func (v *view) noteOnce(notes []string, note string) []string {
	if v.shown[note] {
		return notes
	}
	v.shown[note] = true
	return append(notes, note)
}
