//go:build !db

package api

import "github.com/tarebench/tare/apps/users"

// newOpener returns nil: without the build tag "db", users can only be stored in memory.
func newOpener() users.Opener { return nil }
