package main

import (
	"encoding/json"

	"github.com/mailru/easyjson"

	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/codec"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contenders/codec/easyjson/model"
)

// loadValue decodes canonical JSON into the types of generated code. name is a fixture, a kind of input. It
// returns a pointer, because other values allocate when they are put into an interface.
func loadValue(name string, canonical []byte) (any, error) {
	if newDocument := user(); newDocument != nil && name == codec.UserFixture { // a type of the user
		document := newDocument()
		return document, json.Unmarshal(canonical, document)
	}
	decoded, err := fixture.Decode(name, canonical)
	if err != nil {
		return nil, err
	}
	switch v := decoded.(type) {
	case []fixture.Device:
		devices := make(model.Devices, len(v))
		for i, d := range v {
			devices[i] = model.Device(d)
		}
		return &devices, nil
	case []fixture.Event:
		events := make(model.Events, len(v))
		for i, e := range v {
			events[i] = model.Event{ID: e.ID, Timestamp: e.Timestamp, Metadata: model.Metadata(e.Metadata)}
		}
		return &events, nil
	case fixture.Probe:
		probe := model.Probe(v)
		return &probe, nil
	}
	return nil, contender.ErrUnsupported
}

// findTarget returns a function that makes a pointer to an empty document of a fixture, to decode into. It
// returns nil for a fixture without generated code.
func findTarget(name string) func() any {
	switch name {
	case "devices":
		return func() any { return new(model.Devices) }
	case "events":
		return func() any { return new(model.Events) }
	case "probes", "documents":
		return func() any { return new(model.Probe) }
	case codec.UserFixture:
		return user()
	}
	return nil
}

// findPicker returns a function that decodes only a few fields, into a type that has no others. The generated
// code skips the rest.
func findPicker(name string) func(data []byte) (any, error) {
	switch name {
	case "devices":
		return func(data []byte) (any, error) {
			devices := new(model.DevicesFields)
			return devices, easyjson.Unmarshal(data, devices)
		}
	case "events":
		return func(data []byte) (any, error) {
			events := new(model.EventsFields)
			return events, easyjson.Unmarshal(data, events)
		}
	}
	return nil
}
