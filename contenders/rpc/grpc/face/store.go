//go:build !db

package face

import "github.com/tarebench/tare/apps/users"

// newOpener returns nil because a build without the tag db has no databases.
func newOpener() users.Opener { return nil }
