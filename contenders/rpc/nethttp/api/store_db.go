//go:build db

package api

import (
	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/apps/users/store"
)

func newOpener() users.Opener { return store.Open }
