//go:build db

package api

import (
	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/apps/users/store"
)

// newOpener returns the function that opens stores such as sqlite:users.db and postgres:URL.
func newOpener() users.Opener { return store.Open }
