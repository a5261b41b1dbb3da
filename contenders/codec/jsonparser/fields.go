package main

import (
	"github.com/buger/jsonparser"

	"github.com/tarebench/tare/contender/fixture"
)

// findPicker returns a function that reads only a few fields of a document. EachKey finds all paths of an item in
// one pass. The project calls this the most efficient way. Values are slices of the body; ParseString copies a
// text. For an unknown fixture findPicker returns nil.
func findPicker(name string) func(data []byte) (any, error) {
	switch name {
	case "devices":
		return func(data []byte) (any, error) {
			return readItems(data, setDevice, []string{"id"}, []string{"state"}, []string{"attributes", "temperature"})
		}
	case "events":
		return func(data []byte) (any, error) {
			return readItems(data, setEvent, []string{"id"}, []string{"metadata", "country"},
				[]string{"metadata", "duration_ms"}, []string{"metadata", "scroll_depth"})
		}
	}
	return nil
}

// readItems converts each item. It calls set for each found value, with an index of paths. A missing field
// stays zero. Text that can be parsed as the field's type is accepted.
func readItems[T any](data []byte, set func(target *T, path int, value []byte) error, paths ...[]string) ([]T, error) {
	list := []T{}
	_, err := jsonparser.EachArrayErr(data, func(item []byte, _ jsonparser.ValueType, _ int, err error) error {
		if err != nil {
			return err
		}
		var v T
		jsonparser.EachKey(item, func(path int, value []byte, _ jsonparser.ValueType, valueErr error) {
			if valueErr == nil {
				valueErr = set(&v, path, value)
			}
			if valueErr != nil {
				err = valueErr
			}
		}, paths...)
		list = append(list, v)
		return err
	})
	return list, err
}

// setDevice sets a field of a device. path is an index of findPicker's paths.
func setDevice(device *fixture.DeviceFields, path int, value []byte) (err error) {
	switch path {
	case 0:
		device.ID, err = jsonparser.ParseString(value)
	case 1:
		device.State, err = jsonparser.ParseString(value)
	case 2:
		device.Attributes.Temperature, err = jsonparser.ParseFloat(value)
	}
	return err
}

// setEvent sets a field of an event. path is an index of findPicker's paths.
func setEvent(event *fixture.EventFields, path int, value []byte) (err error) {
	switch path {
	case 0:
		event.ID, err = jsonparser.ParseString(value)
	case 1:
		event.Metadata.Country, err = jsonparser.ParseString(value)
	case 2:
		var ms int64
		ms, err = jsonparser.ParseInt(value)
		event.Metadata.DurationMS = int(ms)
	case 3:
		event.Metadata.ScrollDepth, err = jsonparser.ParseFloat(value)
	}
	return err
}
