package main

import (
	"time"

	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contenders/codec/msgp/model"
)

// loadValue decodes canonical JSON into the types of generated code. name is a fixture, a kind of input. It
// returns a pointer, because other values allocate when they are put into an interface.
func loadValue(name string, canonical []byte) (any, error) {
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
	case "probes":
		return func() any { return new(model.Probe) }
	}
	return nil
}

// convertTimes converts times in values of type any to UTC, in place, and returns v. msgp decodes them in the
// machine's time zone, which the message does not have.
func convertTimes(v any) (any, error) {
	switch x := v.(type) {
	case *any:
		*x = toUTC(*x)
	case *model.Probe:
		x.Any = toUTC(x.Any)
	}
	return v, nil
}

func toUTC(v any) any {
	switch x := v.(type) {
	case time.Time:
		return x.UTC()
	case []any:
		for i := range x {
			x[i] = toUTC(x[i])
		}
	case map[string]any:
		for k := range x {
			x[k] = toUTC(x[k])
		}
	}
	return v
}
