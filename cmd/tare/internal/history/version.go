package history

import (
	"regexp"

	"github.com/tarebench/tare"
)

// Version is what a contender of the run was, as the result says; without one
// asked for it is the first that competes.
func (r TrendRun) Version(contender string) string {
	if r.digest == nil {
		return ""
	}
	for _, c := range r.digest.Contenders {
		if c.ID == contender || contender == "" && c.Role == tare.RoleContender {
			return c.Version
		}
	}
	return ""
}

var commitPattern = regexp.MustCompile(`\b[0-9a-f]{7,40}\b`)

// Commit is the commit in the version of a revision, as tare bench writes it;
// empty where there is none.
func Commit(version string) string { return commitPattern.FindString(version) }
