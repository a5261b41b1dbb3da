// Package rules lists the rules of all readers of package audit.
package rules

import (
	"slices"

	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/cmd/tare/internal/audit/figures"
	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench"
)

//go:generate go test . -run TestDocsAreCurrent -update

// All returns the rules of every reader, in the order in which they are listed.
func All() []audit.Rule {
	return slices.Concat(gobench.Rules(), figures.Rules())
}
