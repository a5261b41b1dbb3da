package history

import (
	"github.com/tarebench/tare"
	"github.com/tarebench/tare/internal/lazyregexp"
)

// Version returns the version of a contender in the run, or "" if it is unknown. If contender is "", it returns
// the version of the first contender that competes.
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

var commitPattern = lazyregexp.New(`\b[0-9a-f]{7,40}\b`)

// Commit returns the commit hash in a version that tare bench has written, or "" if it has none.
func Commit(version string) string { return commitPattern.FindString(version) }
