package main

import (
	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/fixture"
)

// load is [fixture.Decode], where the type is known: a gob without one can be
// read into nothing.
func load(name string, canonical []byte) (any, error) {
	if name == "" {
		return nil, contender.ErrUnsupported
	}
	return fixture.Decode(name, canonical)
}

func target(name string) func() any {
	if name == "" {
		return nil
	}
	return fixture.Target(name)
}
