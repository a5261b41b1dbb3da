package main

import (
	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/fixture"
)

// loadBody returns the body itself, which is also the output. Edge cases are not supported, because nothing is
// encoded.
func loadBody(name string, canonical []byte) (any, error) {
	if len(fixture.Cases(name)) > 0 {
		return nil, contender.ErrUnsupported
	}
	return canonical, nil
}
