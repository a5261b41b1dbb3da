//go:build !db

package face

import "github.com/tarebench/tare/apps/users"

// opener opens what package users has not: nothing does in this build.
func opener() users.Opener { return nil }
