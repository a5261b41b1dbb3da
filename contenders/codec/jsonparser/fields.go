package main

import (
	"github.com/buger/jsonparser"

	"github.com/tarebench/tare/contender/fixture"
)

// fields iterates over the array and has EachKey find all of an item's paths
// in one pass, which the project calls the most efficient way for several
// keys. What is found is a slice of the body; ParseString copies it.
func fields(name string) func(data []byte) (any, error) {
	switch name {
	case "devices":
		return func(data []byte) (any, error) {
			return each(data, device, []string{"id"}, []string{"state"}, []string{"attributes", "temperature"})
		}
	case "events":
		return func(data []byte) (any, error) {
			return each(data, event, []string{"id"}, []string{"metadata", "country"},
				[]string{"metadata", "duration_ms"}, []string{"metadata", "scroll_depth"})
		}
	}
	return nil
}

// each makes a T of every item of an array, given its values one by one with
// the number of their path. A path that is not there leaves the zero value; a
// value of another type is not noticed where its text fits.
func each[T any](data []byte, set func(into *T, path int, value []byte) error, paths ...[]string) ([]T, error) {
	list := []T{}
	_, err := jsonparser.EachArrayErr(data, func(item []byte, _ jsonparser.ValueType, _ int, err error) error {
		if err != nil {
			return err
		}
		var v T
		jsonparser.EachKey(item, func(path int, value []byte, _ jsonparser.ValueType, wrong error) {
			if wrong == nil {
				wrong = set(&v, path, value)
			}
			if wrong != nil {
				err = wrong
			}
		}, paths...)
		list = append(list, v)
		return err
	})
	return list, err
}

func device(into *fixture.DeviceFields, path int, value []byte) (err error) {
	switch path {
	case 0:
		into.ID, err = jsonparser.ParseString(value)
	case 1:
		into.State, err = jsonparser.ParseString(value)
	case 2:
		into.Attributes.Temperature, err = jsonparser.ParseFloat(value)
	}
	return err
}

func event(into *fixture.EventFields, path int, value []byte) (err error) {
	var whole int64
	switch path {
	case 0:
		into.ID, err = jsonparser.ParseString(value)
	case 1:
		into.Metadata.Country, err = jsonparser.ParseString(value)
	case 2:
		whole, err = jsonparser.ParseInt(value)
		into.Metadata.DurationMS = int(whole)
	case 3:
		into.Metadata.ScrollDepth, err = jsonparser.ParseFloat(value)
	}
	return err
}
