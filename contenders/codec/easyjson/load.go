package main

import (
	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contenders/codec/easyjson/model"
)

// load makes a value of the model's types from canonical JSON. It is a pointer,
// so that turning it into an interface costs nothing later.
func load(name string, canonical []byte) (any, error) {
	v, err := fixture.Decode(name, canonical)
	if err != nil {
		return nil, err
	}
	switch list := v.(type) {
	case []fixture.Device:
		own := make(model.Devices, len(list))
		for i, d := range list {
			own[i] = model.Device(d)
		}
		return &own, nil
	case []fixture.Event:
		own := make(model.Events, len(list))
		for i, e := range list {
			own[i] = model.Event{ID: e.ID, Timestamp: e.Timestamp, Metadata: model.Metadata(e.Metadata)}
		}
		return &own, nil
	}
	return nil, contender.ErrUnsupported
}

// target makes an empty document, where there is code for it.
func target(name string) func() any {
	switch name {
	case "devices":
		return func() any { return new(model.Devices) }
	case "events":
		return func() any { return new(model.Events) }
	}
	return nil
}
