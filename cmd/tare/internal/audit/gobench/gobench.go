// Package gobench reads Go benchmarks and finds what makes their figures those
// of something else. Its analyzers also run under go vet -vettool.
package gobench

import "github.com/tarebench/tare/cmd/tare/internal/audit"

// Rules returns the rules for Go benchmarks.
func Rules() []audit.Rule { return nil }
