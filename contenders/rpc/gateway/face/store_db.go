//go:build db

package face

import (
	"github.com/tarebench/tare/app/users"
	"github.com/tarebench/tare/app/users/store"
)

// opener opens databases too.
func opener() users.Opener { return store.Open }
