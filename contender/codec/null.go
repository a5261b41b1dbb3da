package codec

import (
	"encoding/json"
	"io"

	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/fixture"
)

// Null returns a codec that does nothing, so its cost is that of the timed loop itself. Its output is its
// input, so that its answers are correct. It does not support edge cases. Other programs may include it as a
// variant.
func Null() Impl {
	return Impl{
		Load: func(name string, canonical []byte) (any, error) {
			if isCaseFixture(name) { // the output of an edge case is not its input
				return nil, contender.ErrUnsupported
			}
			return canonical, nil
		},
		Target:  func(string) func() any { return sameTarget(new(json.RawMessage)) },
		Marshal: func(v any) ([]byte, error) { return v.([]byte), nil },
		Stream: func(w io.Writer, v any) error {
			_, err := w.Write(v.([]byte))
			return err
		},
		Unmarshal: func(data []byte, target any) error {
			switch p := target.(type) {
			case *json.RawMessage:
				*p = data
			case *any: // made by sameAny
				*(*p).(*json.RawMessage) = data
			}
			return nil
		},
		Fields:      nullFields,
		encodeInput: nullInput,
		anyTarget:   sameAny(),
		Shared:      true,
	}
}

func sameTarget(raw *json.RawMessage) func() any { return func() any { return raw } }

// sameAny returns a function that returns the same *any each time. It contains a *json.RawMessage.
func sameAny() func() any {
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

func nullInput(op, name string, canonical []byte) ([]byte, error) {
	switch {
	case isCaseFixture(name):
		return nil, contender.ErrUnsupported
	case op == OpFields:
		return fixture.Fields(name, canonical)
	}
	return canonical, nil
}
