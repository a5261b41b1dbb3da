package main

import (
	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/fixture"
)

// loadValue supports only fixtures with a Go type (name is not ""). A gob cannot be decoded without it.
func loadValue(name string, canonical []byte) (any, error) {
	if name == "" {
		return nil, contender.ErrUnsupported
	}
	return fixture.Decode(name, canonical)
}

// findTarget makes a pointer to decode into, or nil without a Go type.
func findTarget(name string) func() any {
	if name == "" {
		return nil
	}
	return fixture.Target(name)
}
