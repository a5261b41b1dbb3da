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

func (i Impl) prepare(w wire.Workload, bodies [][]byte) (contender.Work, error) {
	switch w.Op {
	case OpMarshal, OpStream, OpRoundTrip:
		return i.encoding(w, bodies)
	case OpUnmarshal, OpAny, OpFields:
		return i.decoding(w, bodies)
	}
	return contender.Work{}, contender.ErrUnsupported
}

// encoding prepares the operations that start from a value.
func (i Impl) encoding(w wire.Workload, bodies [][]byte) (contender.Work, error) {
	target := i.target(w.Fixture)
	back := i.Unmarshal != nil && target != nil // what is put out can be read again
	switch {
	case w.Op == OpStream && i.Stream == nil, w.Op != OpStream && i.Marshal == nil, (i.Binary || w.Op == OpRoundTrip) && !back:
		return contender.Work{}, contender.ErrUnsupported
	}
	values, err := i.load(w.Fixture, bodies)
	if err != nil {
		return contender.Work{}, err
	}
	show := asPutOut
	if i.Binary {
		show = i.asRead(target)
	}
	switch w.Op {
	case OpMarshal:
		return i.marshal(values, show), nil
	case OpStream:
		return i.stream(values, show), nil
	}
	return i.roundtrip(values, target, i.asDecoded(w.Fixture)), nil
}

// decoding prepares the operations that start from bytes.
func (i Impl) decoding(w wire.Workload, bodies [][]byte) (contender.Work, error) {
	var target func() any
	var pick func(data []byte) (any, error)
	switch {
	case w.Op == OpFields && !i.Binary:
		pick = i.picker(w.Fixture)
	case w.Op == OpFields, i.Unmarshal == nil, i.Binary && (i.Marshal == nil || ofCases(w.Fixture)):
	case w.Op == OpUnmarshal:
		target = i.target(w.Fixture)
	case !i.Typed:
		target = func() any { return new(any) }
		if i.slot != nil {
			target = i.slot
		}
	}
	if target == nil && pick == nil {
		return contender.Work{}, contender.ErrUnsupported
	}
	bodies, err := i.inputs(w, bodies)
	if err != nil {
		return contender.Work{}, err
	}
	if pick != nil {
		return fields(pick, bodies), nil
	}
	return i.unmarshal(target, bodies, i.asDecoded(w.Fixture)), nil
}

// target is what makes the value that Unmarshal fills; nil: there is no type.
func (i Impl) target(name string) func() any {
	if i.Target != nil {
		return i.Target(name)
	}
	return targetOf(name)
}

// picker is what picks a few fields; nil: the codec cannot.
func (i Impl) picker(name string) func(data []byte) (any, error) {
	if i.Fields != nil {
		return i.Fields(name)
	}
	target := fixture.FieldsTarget(name)
	if target == nil || i.Unmarshal == nil || i.Typed {
		return nil
	}
	return func(data []byte) (any, error) {
		into := target()
		return into, i.Unmarshal(data, into)
	}
}

// load builds the values that are encoded.
func (i Impl) load(name string, bodies [][]byte) ([]any, error) {
	load := i.Load
	if load == nil {
		load = decodeAs
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

// inputs are the bytes that are decoded: the bodies, but for codecs to whom
// those mean nothing.
func (i Impl) inputs(w wire.Workload, bodies [][]byte) ([][]byte, error) {
	if !i.Binary && i.given == nil {
		return bodies, nil
	}
	given := func(k int) ([]byte, error) { return i.given(w.Op, w.Fixture, bodies[k]) }
	if i.Binary {
		values, err := i.load(w.Fixture, bodies)
		if err != nil {
			return nil, err
		}
		given = func(k int) ([]byte, error) { return i.Marshal(values[k]) }
	}
	inputs := make([][]byte, len(bodies))
	for k := range bodies {
		b, err := given(k)
		if err != nil {
			return nil, fmt.Errorf("encode body %d: %w", k, err)
		}
		inputs[k] = bytes.Clone(b)
	}
	return inputs, nil
}

// ofCases reports whether a fixture asks what a codec makes of odd cases,
// rather than for work.
func ofCases(name string) bool { return slices.Contains(fixture.CaseFixtures(), name) }

// asPutOut shows an encoding as it is.
func asPutOut(out []byte) (contender.Answered, error) {
	return contender.Answered{Output: out}, nil
}

// asRead shows an encoding as JSON of what the codec itself reads in it.
func (i Impl) asRead(target func() any) func(out []byte) (contender.Answered, error) {
	return func(out []byte) (contender.Answered, error) {
		into := target()
		if err := i.Unmarshal(out, into); err != nil {
			return contender.Answered{}, fmt.Errorf("what it put out cannot be read again: %w", err)
		}
		v, err := i.plain(into)
		if err != nil {
			return contender.Answered{}, err
		}
		text, err := json.Marshal(v)
		return contender.Answered{Output: text, Size: int64(len(out))}, err
	}
}

// asDecoded shows a decoded value: as JSON, or value by value where JSON could
// not tell one outcome from another.
func (i Impl) asDecoded(name string) func(v any) ([]byte, error) {
	cases := ofCases(name)
	return func(v any) ([]byte, error) {
		v, err := i.plain(v)
		if err != nil {
			return nil, err
		}
		if cases {
			return fixture.Show(v), nil
		}
		return json.Marshal(v)
	}
}

func (i Impl) plain(v any) (any, error) {
	if i.Plain == nil {
		return v, nil
	}
	return i.Plain(v)
}
