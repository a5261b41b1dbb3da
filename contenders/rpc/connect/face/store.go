//go:build !db

package face

import "github.com/tarebench/tare/apps/users"

// newOpener returns nil: this build has no further stores.
func newOpener() users.Opener { return nil }
