// Package codec is the kind of contender that turns Go values into bytes and
// back. An author fills in an [Impl] and calls [Main]:
//
//	func main() {
//		codec.Main(codec.Impl{Marshal: json.Marshal, Unmarshal: json.Unmarshal})
//	}
//
// Operations, as studies name them:
//
//	marshal    a value to a byte slice of its own
//	stream     a value to an io.Writer
//	unmarshal  bytes to a new value of the fixture's type
//	any        bytes to a new value of whatever types the codec makes up
package codec

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/wire"
)

// Kind is what studies call this kind of contender.
const Kind = "codec"

// Operations that a study can ask of a codec.
const (
	OpMarshal   = "marshal"
	OpStream    = "stream"
	OpUnmarshal = "unmarshal"
	OpAny       = "any"
)

// Impl is a codec. A nil operation is not supported.
type Impl struct {
	// Load builds the value that Marshal and Stream are given, off the clock,
	// from a body of the fixture's canonical JSON. Codecs that need types of
	// their own (generated code) build them here, and return
	// [contender.ErrUnsupported] where they have none for the fixture. Nil:
	// [fixture.Decode].
	Load func(fixture string, canonical []byte) (any, error)

	// Target returns what makes the pointer that Unmarshal fills. It is part
	// of the timed operation; nil where it has no type for the fixture. Nil:
	// [fixture.Target].
	Target func(fixture string) func() any

	Marshal   func(v any) ([]byte, error)
	Stream    func(w io.Writer, v any) error
	Unmarshal func(data []byte, into any) error

	// Typed says that Unmarshal fills only types of its own, so that it cannot
	// decode into any.
	Typed bool

	// Shared says that Marshal hands out memory it keeps, so that it need not
	// allocate what it returns. True for the null contender, not for a codec.
	Shared bool
}

// Main serves the lab that started this process as one codec, and exits.
func Main(i Impl) { contender.Main(program(map[string]Impl{"": i})) }

// Variants is Main for a program that holds several codecs by name.
func Variants(impls map[string]Impl) { contender.Main(program(impls)) }

func program(impls map[string]Impl) contender.Program {
	names := slices.Sorted(maps.Keys(impls))
	p := contender.Program{Kind: Kind, Prepare: func(variant string, w wire.Workload, bodies [][]byte) (contender.Work, error) {
		return impls[variant].prepare(w, bodies)
	}}
	if _, one := impls[""]; !one {
		p.Variants = names
	}
	return p
}

func (i Impl) prepare(w wire.Workload, bodies [][]byte) (contender.Work, error) {
	switch {
	case w.Op == OpMarshal && i.Marshal != nil:
		values, err := i.load(w.Fixture, bodies)
		return i.marshal(values), err
	case w.Op == OpStream && i.Stream != nil:
		values, err := i.load(w.Fixture, bodies)
		return i.stream(values), err
	case w.Op == OpUnmarshal && i.Unmarshal != nil:
		target := fixture.Target(w.Fixture)
		if i.Target != nil {
			target = i.Target(w.Fixture)
		}
		if target == nil {
			break
		}
		return i.unmarshal(target, bodies), nil
	case w.Op == OpAny && i.Unmarshal != nil && !i.Typed:
		return i.unmarshal(func() any { return new(any) }, bodies), nil
	}
	return contender.Work{}, contender.ErrUnsupported
}

func (i Impl) load(name string, bodies [][]byte) ([]any, error) {
	load := i.Load
	if load == nil {
		load = fixture.Decode
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
