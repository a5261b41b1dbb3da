package codec

import (
	"encoding/json"
	"io"

	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/fixture"
)

// Null is the codec that does nothing: what is measured of it is the harness.
// It answers rightly because it is given the answer. A program with several
// variants can bring it along as one of them.
func Null() Impl {
	return Impl{
		Load: func(name string, canonical []byte) (any, error) {
			if ofCases(name) { // there is no doing nothing to an odd case
				return nil, contender.ErrUnsupported
			}
			return canonical, nil
		},
		Target:  func(string) func() any { return onePlace(new(json.RawMessage)) },
		Marshal: func(v any) ([]byte, error) { return v.([]byte), nil },
		Stream: func(w io.Writer, v any) error {
			_, err := w.Write(v.([]byte))
			return err
		},
		Unmarshal: func(data []byte, into any) error {
			switch p := into.(type) {
			case *json.RawMessage:
				*p = data
			case *any:
				*(*p).(*json.RawMessage) = data
			}
			return nil
		},
		Fields: nullFields,
		given:  nullGiven,
		slot:   oneSlot(),
		Shared: true,
	}
}

// onePlace is one place for everything that is decoded.
func onePlace(raw *json.RawMessage) func() any { return func() any { return raw } }

// oneSlot is one place that is an any.
func oneSlot() func() any {
	var slot any = new(json.RawMessage)
	return func() any { return &slot }
}

func nullFields(name string) func(data []byte) (any, error) {
	if fixture.FieldsTarget(name) == nil {
		return nil
	}
	raw := new(json.RawMessage)
	return func(data []byte) (any, error) {
		*raw = data
		return raw, nil
	}
}

func nullGiven(op, name string, canonical []byte) ([]byte, error) {
	switch {
	case ofCases(name):
		return nil, contender.ErrUnsupported
	case op == OpFields:
		return fixture.Fields(name, canonical)
	}
	return canonical, nil
}
