package history

import (
	"regexp"

	"github.com/tarebench/tare"
)

// Version returns the version of a contender of the run; "" means the first that competes.
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

// Commit returns the commit in the version of a revision, as tare bench writes it; "" if there is
// none.
func Commit(version string) string { return commitPattern.FindString(version) }
