package codec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/wire"
)

// prepareOp makes the functions of an operation such as unmarshal. bodies are inputs in canonical JSON.
// w.Fixture is their type, such as devices.
func (i Impl) prepareOp(w wire.Workload, bodies [][]byte) (contender.Work, error) {
	switch w.Op {
	case OpMarshal, OpStream, OpRoundTrip:
		return i.prepareEncoding(w, bodies)
	case OpUnmarshal, OpAny, OpFields:
		return i.prepareDecoding(w, bodies)
	}
	return contender.Work{}, contender.ErrUnsupported
}

func (i Impl) prepareEncoding(w wire.Workload, bodies [][]byte) (contender.Work, error) {
	target := i.findTarget(w.Fixture)
	if !i.canEncode(w.Op, target) {
		return contender.Work{}, contender.ErrUnsupported
	}
	values, err := i.loadValues(w.Fixture, bodies)
	if err != nil {
		return contender.Work{}, err
	}
	show := showOutput
	if i.Binary {
		show = i.decodeOutput(target)
	}
	switch w.Op {
	case OpMarshal:
		return i.newMarshal(values, show), nil
	case OpStream:
		return i.newStream(values, show), nil
	}
	return i.newRoundTrip(values, target, i.showDecoded(w.Fixture)), nil
}

// canEncode reports whether the codec has the functions that op needs. A round trip also decodes. A binary
// codec must decode its output, so that it can be compared. target, of findTarget, is nil without a type.
func (i Impl) canEncode(op string, target func() any) bool {
	hasEncoder := i.Marshal != nil
	if op == OpStream {
		hasEncoder = i.Stream != nil
	}
	hasDecoder := i.Unmarshal != nil && target != nil
	needsDecoder := i.Binary || op == OpRoundTrip
	return hasEncoder && (hasDecoder || !needsDecoder)
}

func (i Impl) prepareDecoding(w wire.Workload, bodies [][]byte) (contender.Work, error) {
	var target func() any
	var pick func(data []byte) (any, error) // reads a few fields, instead of Unmarshal
	if w.Op == OpFields {
		pick = i.findPicker(w.Fixture)
	} else {
		target = i.findDecodeTarget(w)
	}
	if target == nil && pick == nil {
		return contender.Work{}, contender.ErrUnsupported
	}
	bodies, err := i.encodeInputs(w, bodies)
	if err != nil {
		return contender.Work{}, err
	}
	if pick != nil {
		return newFields(pick, bodies), nil
	}
	return i.newUnmarshal(target, bodies, i.showDecoded(w.Fixture)), nil
}

// findDecodeTarget returns the function that makes the value to decode into, or nil if the operation is not
// supported.
func (i Impl) findDecodeTarget(w wire.Workload) func() any {
	if i.Unmarshal == nil {
		return nil
	}
	if i.Binary { // Marshal must make the input
		canMakeInput := i.Marshal != nil && !isCaseFixture(w.Fixture)
		if !canMakeInput {
			return nil
		}
	}
	switch {
	case w.Op == OpUnmarshal:
		return i.findTarget(w.Fixture)
	case i.Typed: // cannot decode into any
		return nil
	case i.anyTarget != nil:
		return i.anyTarget
	}
	return func() any { return new(any) }
}

// findTarget returns the function that makes the value for Unmarshal, or nil without a type for the fixture.
func (i Impl) findTarget(name string) func() any {
	if i.Target != nil {
		return i.Target(name)
	}
	return userTarget(name)
}

// findPicker returns the function that reads a few fields. Only JSON codecs have one.
func (i Impl) findPicker(name string) func(data []byte) (any, error) {
	if i.Binary {
		return nil
	}
	if i.Fields != nil {
		return i.Fields(name)
	}
	target := fixture.FieldsTarget(name)
	if target == nil || i.Unmarshal == nil || i.Typed {
		return nil
	}
	return func(data []byte) (any, error) {
		v := target()
		return v, i.Unmarshal(data, v)
	}
}

func (i Impl) loadValues(name string, bodies [][]byte) ([]any, error) {
	load := i.Load
	if load == nil {
		load = decodeUser
	}
	values := make([]any, len(bodies))
	for k, body := range bodies {
		v, err := load(name, body)
		if err != nil {
			return nil, fmt.Errorf("load body %d: %w", k, err)
		}
		values[k] = v
	}
	return values, nil
}

// encodeInputs returns the bodies, unless the codec is binary or does nothing.
func (i Impl) encodeInputs(w wire.Workload, bodies [][]byte) ([][]byte, error) {
	if !i.Binary && i.encodeInput == nil {
		return bodies, nil
	}
	encode := func(k int) ([]byte, error) { return i.encodeInput(w.Op, w.Fixture, bodies[k]) }
	if i.Binary {
		values, err := i.loadValues(w.Fixture, bodies)
		if err != nil {
			return nil, err
		}
		encode = func(k int) ([]byte, error) { return i.Marshal(values[k]) }
	}
	inputs := make([][]byte, len(bodies))
	for k := range bodies {
		b, err := encode(k)
		if err != nil {
			return nil, fmt.Errorf("encode body %d: %w", k, err)
		}
		inputs[k] = bytes.Clone(b) // the codec may reuse b
	}
	return inputs, nil
}

// isCaseFixture reports whether a fixture has edge cases, which are not timed.
func isCaseFixture(name string) bool { return slices.Contains(fixture.CaseFixtures(), name) }

func showOutput(out []byte) (contender.Answered, error) {
	return contender.Answered{Output: out}, nil
}

// decodeOutput returns a function that makes a binary encoding comparable: it decodes it and encodes the value
// as JSON.
func (i Impl) decodeOutput(target func() any) func(out []byte) (contender.Answered, error) {
	return func(out []byte) (contender.Answered, error) {
		decoded := target()
		if err := i.Unmarshal(out, decoded); err != nil {
			return contender.Answered{}, fmt.Errorf("what it put out cannot be read again: %w", err)
		}
		v, err := i.convertPlain(decoded)
		if err != nil {
			return contender.Answered{}, err
		}
		text, err := json.Marshal(v)
		return contender.Answered{Output: text, Size: int64(len(out))}, err
	}
}

// showDecoded returns a function that formats a decoded value as JSON. For edge cases it uses [fixture.Show],
// which shows more differences.
func (i Impl) showDecoded(name string) func(v any) ([]byte, error) {
	isCase := isCaseFixture(name)
	return func(v any) ([]byte, error) {
		v, err := i.convertPlain(v)
		if err != nil {
			return nil, err
		}
		if isCase {
			return fixture.Show(v), nil
		}
		return json.Marshal(v)
	}
}

func (i Impl) convertPlain(v any) (any, error) {
	if i.Plain == nil {
		return v, nil
	}
	return i.Plain(v)
}
