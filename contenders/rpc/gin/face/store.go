//go:build !db

package face

import "github.com/tarebench/tare/apps/users"

// newOpener returns nil: without the tag db users are stored in memory only.
func newOpener() users.Opener { return nil }
