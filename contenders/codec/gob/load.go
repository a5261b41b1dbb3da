package main

import (
	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/fixture"
)

// loadValue returns the value to encode. It supports only fixtures with a Go type (name is not ""), because a gob
// cannot be decoded without it.
func loadValue(name string, canonical []byte) (any, error) {
	if name == "" {
		return nil, contender.ErrUnsupported
	}
	return fixture.Decode(name, canonical)
}

// findTarget returns a function that makes a pointer to decode into, or nil for a fixture without a Go type.
func findTarget(name string) func() any {
	if name == "" {
		return nil
	}
	return fixture.Target(name)
}
