package main

import (
	"encoding/json"

	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/codec"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contenders/codec/ffjson/model"
)

// load makes a value of the model's types from canonical JSON. It is a pointer,
// so that turning it into an interface costs nothing later.
func load(name string, canonical []byte) (any, error) {
	if target := user(); target != nil && name == codec.UserFixture {
		own := target()
		return own, json.Unmarshal(canonical, bare(own))
	}
	v, err := fixture.Decode(name, canonical)
	if err != nil {
		return nil, err
	}
	switch given := v.(type) {
	case []fixture.Device:
		own := make(list[model.Device, *model.Device], len(given))
		for i, d := range given {
			own[i] = model.Device(d)
		}
		return &own, nil
	case []fixture.Event:
		own := make(list[model.Event, *model.Event], len(given))
		for i, e := range given {
			own[i] = model.Event{ID: e.ID, Timestamp: e.Timestamp, Metadata: model.Metadata(e.Metadata)}
		}
		return &own, nil
	case fixture.Probe:
		own := model.Probe(given)
		return &own, nil
	}
	return nil, contender.ErrUnsupported
}

// target makes an empty document, where there is code for it.
func target(name string) func() any {
	switch name {
	case "devices":
		return func() any { return new(list[model.Device, *model.Device]) }
	case "events":
		return func() any { return new(list[model.Event, *model.Event]) }
	case "probes", "documents":
		return func() any { return new(model.Probe) }
	case codec.UserFixture:
		return user()
	}
	return nil
}
