//go:build !db

package api

import "github.com/tarebench/tare/apps/users"

// newOpener returns nil: without the tag db users are stored in memory only.
func newOpener() users.Opener { return nil }
