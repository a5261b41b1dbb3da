package main

import (
	"errors"

	"github.com/tidwall/gjson"

	"github.com/tarebench/tare/contender/fixture"
)

// fields iterates over the array and looks every path up in its item, as the
// project shows both. Texts are parts of the one copy of the body that
// ParseBytes makes, and keep all of it in memory.
func fields(name string) func(data []byte) (any, error) {
	switch name {
	case "devices":
		return func(data []byte) (any, error) { return each(data, device) }
	case "events":
		return func(data []byte) (any, error) { return each(data, event) }
	}
	return nil
}

// each makes a T of every item of an array. There is no error of gjson's to
// hand on: it knows none.
func each[T any](data []byte, item func(gjson.Result) T) ([]T, error) {
	document := gjson.ParseBytes(data)
	if !document.IsArray() {
		return nil, errors.New("not an array")
	}
	list := []T{}
	document.ForEach(func(_, v gjson.Result) bool {
		list = append(list, item(v))
		return true
	})
	return list, nil
}

// A Get of what is not there is the zero value; one of another type is made
// into the type that is asked for.

func device(v gjson.Result) fixture.DeviceFields {
	return fixture.DeviceFields{
		ID:         v.Get("id").String(),
		State:      v.Get("state").String(),
		Attributes: fixture.AttributeFields{Temperature: v.Get("attributes.temperature").Float()},
	}
}

func event(v gjson.Result) fixture.EventFields {
	return fixture.EventFields{
		ID: v.Get("id").String(),
		Metadata: fixture.MetadataFields{
			Country:     v.Get("metadata.country").String(),
			DurationMS:  int(v.Get("metadata.duration_ms").Int()),
			ScrollDepth: v.Get("metadata.scroll_depth").Float(),
		},
	}
}
