package main

import (
	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/fixture"
)

// loadValue is [fixture.Decode] for fixtures with a Go type. Without the type, a gob
// cannot be decoded.
func loadValue(name string, canonical []byte) (any, error) {
	if name == "" {
		return nil, contender.ErrUnsupported
	}
	return fixture.Decode(name, canonical)
}

// findTarget is [fixture.Target] for fixtures with a Go type.
func findTarget(name string) func() any {
	if name == "" {
		return nil
	}
	return fixture.Target(name)
}
