package main

import (
	"github.com/valyala/fastjson"

	"github.com/tarebench/tare/contender/fixture"
)

// findPicker returns a function that reads only a few fields of a document, as the project recommends. It uses a
// pool of parsers, one Get for the common prefix of paths, and a loop. The pool reuses memory, so texts are
// copied. For an unknown fixture findPicker returns nil.
func findPicker(name string) func(data []byte) (any, error) {
	pool := new(fastjson.ParserPool)
	switch name {
	case "devices":
		return func(data []byte) (any, error) { return readItems(pool, data, readDevice) }
	case "events":
		return func(data []byte) (any, error) { return readItems(pool, data, readEvent) }
	}
	return nil
}

// readItems parses an array and converts each item.
func readItems[T any](pool *fastjson.ParserPool, data []byte, readItem func(*fastjson.Value) T) ([]T, error) {
	parser := pool.Get()
	defer pool.Put(parser)
	document, err := parser.ParseBytes(data)
	if err != nil {
		return nil, err
	}
	items, err := document.Array()
	if err != nil {
		return nil, err
	}
	list := make([]T, len(items))
	for i, v := range items {
		list[i] = readItem(v)
	}
	return list, nil
}

// readDevice reads the few fields of a device. A missing value, or one of another type, gives zero.
func readDevice(v *fastjson.Value) fixture.DeviceFields {
	return fixture.DeviceFields{
		ID:         string(v.GetStringBytes("id")),
		State:      string(v.GetStringBytes("state")),
		Attributes: fixture.AttributeFields{Temperature: v.GetFloat64("attributes", "temperature")},
	}
}

func readEvent(v *fastjson.Value) fixture.EventFields {
	metadata := v.Get("metadata")
	return fixture.EventFields{
		ID: string(v.GetStringBytes("id")),
		Metadata: fixture.MetadataFields{
			Country:     string(metadata.GetStringBytes("country")),
			DurationMS:  metadata.GetInt("duration_ms"),
			ScrollDepth: metadata.GetFloat64("scroll_depth"),
		},
	}
}
