package main

import (
	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/fixture"
)

// load: it knows devices and nothing else.
func load(name string, canonical []byte) (any, error) {
	if name != "devices" {
		return nil, contender.ErrUnsupported
	}
	return fixture.Decode(name, canonical)
}
