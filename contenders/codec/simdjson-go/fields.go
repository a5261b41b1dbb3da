package main

import (
	"errors"

	"github.com/minio/simdjson-go"

	"github.com/tarebench/tare/contender/fixture"
)

// findPicker returns a function that reads only a few fields of a document. As the project recommends, the
// parser reuses memory and leaves strings in the body. Only a string that is read is copied. For an unknown
// fixture findPicker returns nil.
func findPicker(name string) func(data []byte) (any, error) {
	switch name {
	case "devices":
		r := newReader()
		return func(data []byte) (any, error) { return readItems(r, data, (*reader).readDevice) }
	case "events":
		r := newReader()
		return func(data []byte) (any, error) { return readItems(r, data, (*reader).readEvent) }
	}
	return nil
}

// reader has the library's objects, reused for all documents.
type reader struct {
	parsed   *simdjson.ParsedJson
	array    simdjson.Array
	item     simdjson.Object
	metadata simdjson.Object
	element  simdjson.Element
}

// newReader returns a reader. It panics if the processor lacks instructions that the library needs. The SDK
// reports the panic as the error of the request that prepares the operation.
func newReader() *reader {
	if !simdjson.SupportedCPU() {
		panic("simdjson-go needs an amd64 processor with AVX2 and CLMUL")
	}
	return new(reader)
}

// readItems parses an array and converts each item. readItem reads the item that is in r.item.
func readItems[T any](r *reader, data []byte, readItem func(r *reader) (T, error)) ([]T, error) {
	parsed, err := simdjson.Parse(data, r.parsed, simdjson.WithCopyStrings(false))
	if err != nil {
		return nil, err
	}
	r.parsed = parsed
	list := []T{}
	err = parsed.ForEach(func(root simdjson.Iter) error {
		array, err := root.Array(&r.array)
		if err != nil {
			return err
		}
		for items := array.Iter(); items.Advance() != simdjson.TypeNone; { // TypeNone is the end
			if _, err := items.Object(&r.item); err != nil {
				return err
			}
			v, err := readItem(r)
			if err != nil {
				return err
			}
			list = append(list, v)
		}
		return nil
	})
	return list, err
}

func (r *reader) readDevice() (v fixture.DeviceFields, err error) {
	if v.ID, err = r.readText(&r.item, "id"); err != nil {
		return v, err
	}
	if v.State, err = r.readText(&r.item, "state"); err != nil {
		return v, err
	}
	v.Attributes.Temperature, err = r.readFloat(&r.item, "attributes", "temperature")
	return v, err
}

func (r *reader) readEvent() (v fixture.EventFields, err error) {
	if v.ID, err = r.readText(&r.item, "id"); err != nil {
		return v, err
	}
	metadata := r.item.FindKey("metadata", &r.element)
	if metadata == nil {
		return v, errors.New("no metadata")
	}
	if _, err = metadata.Iter.Object(&r.metadata); err != nil {
		return v, err
	}
	if v.Metadata.Country, err = r.readText(&r.metadata, "country"); err != nil {
		return v, err
	}
	if v.Metadata.DurationMS, err = r.readInt(&r.metadata, "duration_ms"); err != nil {
		return v, err
	}
	v.Metadata.ScrollDepth, err = r.readFloat(&r.metadata, "scroll_depth")
	return v, err
}

// readText returns the string at a path of an object. A missing path is an error, also in readInt and readFloat.
func (r *reader) readText(object *simdjson.Object, path ...string) (string, error) {
	if _, err := object.FindPath(&r.element, path...); err != nil {
		return "", err
	}
	return r.element.Iter.String()
}

func (r *reader) readInt(object *simdjson.Object, path ...string) (int, error) {
	if _, err := object.FindPath(&r.element, path...); err != nil {
		return 0, err
	}
	i, err := r.element.Iter.Int()
	return int(i), err
}

func (r *reader) readFloat(object *simdjson.Object, path ...string) (float64, error) {
	if _, err := object.FindPath(&r.element, path...); err != nil {
		return 0, err
	}
	return r.element.Iter.Float()
}
