package main

import (
	"github.com/valyala/fastjson"

	"github.com/tarebench/tare/contender/fixture"
)

// fields follows what the project advises: parsers out of a pool, one Get for
// a prefix that several values share, a loop over the array itself. Values are
// the parser's until it goes back, so text is copied out of them.
func fields(name string) func(data []byte) (any, error) {
	pool := new(fastjson.ParserPool)
	switch name {
	case "devices":
		return func(data []byte) (any, error) { return each(pool, data, device) }
	case "events":
		return func(data []byte) (any, error) { return each(pool, data, event) }
	}
	return nil
}

// each parses an array and makes a T of every item.
func each[T any](pool *fastjson.ParserPool, data []byte, item func(*fastjson.Value) T) ([]T, error) {
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
		list[i] = item(v)
	}
	return list, nil
}

// A Get of what is not there, or is of another type, is the zero value.

func device(v *fastjson.Value) fixture.DeviceFields {
	return fixture.DeviceFields{
		ID:         string(v.GetStringBytes("id")),
		State:      string(v.GetStringBytes("state")),
		Attributes: fixture.AttributeFields{Temperature: v.GetFloat64("attributes", "temperature")},
	}
}

func event(v *fastjson.Value) fixture.EventFields {
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
