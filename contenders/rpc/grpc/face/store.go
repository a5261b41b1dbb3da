//go:build !db

package face

import "github.com/tarebench/tare/apps/users"

// newOpener returns nil, because a build without the tag db stores users in memory only.
func newOpener() users.Opener { return nil }
