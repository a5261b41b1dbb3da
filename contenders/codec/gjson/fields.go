package main

import (
	"errors"

	"github.com/tidwall/gjson"

	"github.com/tarebench/tare/contender/fixture"
)

// findPicker returns the function of operation fields, which reads only a few fields
// of a document. It iterates over the array and looks up each path in each item, as
// the examples of the project do. ParseBytes copies the body; the texts that are read
// are parts of this copy, which stays in memory as long as any of them is used.
// findPicker returns nil for an unknown fixture.
func findPicker(name string) func(data []byte) (any, error) {
	switch name {
	case "devices":
		return func(data []byte) (any, error) { return readItems(data, readDevice) }
	case "events":
		return func(data []byte) (any, error) { return readItems(data, readEvent) }
	}
	return nil
}

// readItems converts each item of an array. gjson itself reports no errors.
func readItems[T any](data []byte, readItem func(gjson.Result) T) ([]T, error) {
	document := gjson.ParseBytes(data)
	if !document.IsArray() {
		return nil, errors.New("not an array")
	}
	list := []T{}
	document.ForEach(func(_, v gjson.Result) bool {
		list = append(list, readItem(v))
		return true
	})
	return list, nil
}

// readDevice reads the few fields of a device. A missing path results in a zero
// value; gjson converts a value of another type.
func readDevice(v gjson.Result) fixture.DeviceFields {
	return fixture.DeviceFields{
		ID:         v.Get("id").String(),
		State:      v.Get("state").String(),
		Attributes: fixture.AttributeFields{Temperature: v.Get("attributes.temperature").Float()},
	}
}

// readEvent reads the few fields of an event.
func readEvent(v gjson.Result) fixture.EventFields {
	return fixture.EventFields{
		ID: v.Get("id").String(),
		Metadata: fixture.MetadataFields{
			Country:     v.Get("metadata.country").String(),
			DurationMS:  int(v.Get("metadata.duration_ms").Int()),
			ScrollDepth: v.Get("metadata.scroll_depth").Float(),
		},
	}
}
