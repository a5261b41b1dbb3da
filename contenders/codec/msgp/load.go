package main

import (
	"time"

	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contenders/codec/msgp/model"
)

// load makes a value of the model's types from canonical JSON. It is a pointer,
// so that turning it into an interface costs nothing later.
func load(name string, canonical []byte) (any, error) {
	v, err := fixture.Decode(name, canonical)
	if err != nil {
		return nil, err
	}
	switch given := v.(type) {
	case []fixture.Device:
		own := make(model.Devices, len(given))
		for i, d := range given {
			own[i] = model.Device(d)
		}
		return &own, nil
	case []fixture.Event:
		own := make(model.Events, len(given))
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
		return func() any { return new(model.Devices) }
	case "events":
		return func() any { return new(model.Events) }
	case "probes":
		return func() any { return new(model.Probe) }
	}
	return nil
}

// plain leaves the model's types as they are. Decoded into any, a time comes
// back in the machine's zone: which that is says nothing about the message.
func plain(v any) (any, error) {
	switch x := v.(type) {
	case *any:
		*x = utc(*x)
	case *model.Probe:
		x.Any = utc(x.Any)
	}
	return v, nil
}

func utc(v any) any {
	switch x := v.(type) {
	case time.Time:
		return x.UTC()
	case []any:
		for i := range x {
			x[i] = utc(x[i])
		}
	case map[string]any:
		for k := range x {
			x[k] = utc(x[k])
		}
	}
	return v
}
