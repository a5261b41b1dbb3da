package main

import (
	"errors"

	"github.com/tidwall/gjson"

	"github.com/tarebench/tare/contender/fixture"
)

// findPicker returns a function that reads only a few fields of a document. As the project's examples do, it
// looks up each path in each item. ParseBytes copies the body. The copy lives as long as any text in it. For an
// unknown fixture findPicker returns nil.
func findPicker(name string) func(data []byte) (any, error) {
	switch name {
	case "devices":
		return func(data []byte) (any, error) { return readItems(data, readDevice) }
	case "events":
		return func(data []byte) (any, error) { return readItems(data, readEvent) }
	}
	return nil
}

// readItems converts each item. gjson reports no errors.
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

// readDevice reads the few fields of a device. A missing value gives zero. gjson converts other types.
func readDevice(v gjson.Result) fixture.DeviceFields {
	return fixture.DeviceFields{
		ID:         v.Get("id").String(),
		State:      v.Get("state").String(),
		Attributes: fixture.AttributeFields{Temperature: v.Get("attributes.temperature").Float()},
	}
}

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
