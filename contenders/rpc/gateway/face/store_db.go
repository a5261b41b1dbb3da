//go:build db

package face

import (
	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/apps/users/store"
)

// opener opens databases too.
func opener() users.Opener { return store.Open }
