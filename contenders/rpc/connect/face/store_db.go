//go:build db

package face

import (
	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/apps/users/store"
)

// newOpener returns the function that opens SQLite and PostgreSQL databases.
func newOpener() users.Opener { return store.Open }
