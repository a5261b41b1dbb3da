package main

import (
	"errors"

	"github.com/minio/simdjson-go"

	"github.com/tarebench/tare/contender/fixture"
)

// fields gives the last result back to the parser to be used again, and has it
// leave strings where they are in the body, as the project advises: a string
// is copied when it is asked for.
func fields(name string) func(data []byte) (any, error) {
	switch name {
	case "devices":
		w := newWalk()
		return func(data []byte) (any, error) { return each(w, data, (*walk).device) }
	case "events":
		w := newWalk()
		return func(data []byte) (any, error) { return each(w, data, (*walk).event) }
	}
	return nil
}

// walk holds what is used again for every document.
type walk struct {
	parsed   *simdjson.ParsedJson
	array    simdjson.Array
	item     simdjson.Object
	metadata simdjson.Object
	element  simdjson.Element
}

// newWalk panics where the library cannot run, which makes an error reply to
// prepare: it has no other code for processors without its instructions.
func newWalk() *walk {
	if !simdjson.SupportedCPU() {
		panic("simdjson-go needs an amd64 processor with AVX2 and CLMUL")
	}
	return new(walk)
}

// each makes a T of every item of an array.
func each[T any](w *walk, data []byte, item func(w *walk) (T, error)) ([]T, error) {
	parsed, err := simdjson.Parse(data, w.parsed, simdjson.WithCopyStrings(false))
	if err != nil {
		return nil, err
	}
	w.parsed = parsed
	list := []T{}
	err = parsed.ForEach(func(root simdjson.Iter) error {
		array, err := root.Array(&w.array)
		if err != nil {
			return err
		}
		for items := array.Iter(); items.Advance() != simdjson.TypeNone; {
			if _, err := items.Object(&w.item); err != nil {
				return err
			}
			v, err := item(w)
			if err != nil {
				return err
			}
			list = append(list, v)
		}
		return nil
	})
	return list, err
}

func (w *walk) device() (v fixture.DeviceFields, err error) {
	if v.ID, err = w.text(&w.item, "id"); err != nil {
		return v, err
	}
	if v.State, err = w.text(&w.item, "state"); err != nil {
		return v, err
	}
	v.Attributes.Temperature, err = w.number(&w.item, "attributes", "temperature")
	return v, err
}

func (w *walk) event() (v fixture.EventFields, err error) {
	if v.ID, err = w.text(&w.item, "id"); err != nil {
		return v, err
	}
	metadata := w.item.FindKey("metadata", &w.element)
	if metadata == nil {
		return v, errors.New("no metadata")
	}
	if _, err = metadata.Iter.Object(&w.metadata); err != nil {
		return v, err
	}
	if v.Metadata.Country, err = w.text(&w.metadata, "country"); err != nil {
		return v, err
	}
	if v.Metadata.DurationMS, err = w.whole(&w.metadata, "duration_ms"); err != nil {
		return v, err
	}
	v.Metadata.ScrollDepth, err = w.number(&w.metadata, "scroll_depth")
	return v, err
}

func (w *walk) text(in *simdjson.Object, path ...string) (string, error) {
	if _, err := in.FindPath(&w.element, path...); err != nil {
		return "", err
	}
	return w.element.Iter.String()
}

func (w *walk) whole(in *simdjson.Object, path ...string) (int, error) {
	if _, err := in.FindPath(&w.element, path...); err != nil {
		return 0, err
	}
	i, err := w.element.Iter.Int()
	return int(i), err
}

func (w *walk) number(in *simdjson.Object, path ...string) (float64, error) {
	if _, err := in.FindPath(&w.element, path...); err != nil {
		return 0, err
	}
	return w.element.Iter.Float()
}
