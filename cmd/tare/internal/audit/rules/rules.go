// Package rules lists the rules of tare audit.
package rules

import (
	"slices"

	"github.com/tarebench/tare/cmd/tare/internal/audit"
	"github.com/tarebench/tare/cmd/tare/internal/audit/figures"
	"github.com/tarebench/tare/cmd/tare/internal/audit/gobench"
)

//go:generate go test . -run TestDocsAreCurrent -update

// All returns all rules in the order of docs/audit.md.
func All() []audit.Rule {
	return slices.Concat(gobench.Rules(), figures.Rules())
}
