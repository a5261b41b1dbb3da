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
//	fields     a few fields of every item out of JSON, into [fixture.Fields]' type
//	roundtrip  a value to bytes and back to a new value
package codec

import (
	"io"
	"maps"
	"slices"

	"github.com/tarebench/tare/contender"
	"github.com/tarebench/tare/contender/wire"
)

// Kind is the name of this kind of contender in studies.
const Kind = "codec"

// Operations of a codec.
const (
	OpMarshal   = "marshal"
	OpStream    = "stream"
	OpUnmarshal = "unmarshal"
	OpAny       = "any"
	OpFields    = "fields"
	OpRoundTrip = "roundtrip"
)

// Impl is a codec. A nil operation is not supported.
type Impl struct {
	// Load builds the value that Marshal and Stream are given, off the clock,
	// from a body of the fixture's canonical JSON. Codecs that need types of
	// their own (generated code) build them in Load, and return
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

	// Fields returns what picks the fixture's few fields (see [fixture.Fields])
	// out of a body, in the way the library is meant to be used for that; nil
	// where it cannot for the fixture. What it returns is answered as JSON; let
	// it be a pointer, as putting anything else into an interface allocates.
	// Nil: Unmarshal into [fixture.FieldsTarget], a type with those fields only.
	Fields func(fixture string) func(data []byte) (any, error)

	// Binary means that the bytes are not JSON. Then the input of Unmarshal is the
	// output of Marshal for the fixture's values, made off the clock, and Answer returns
	// the value that Unmarshal decodes from an output as JSON, with the output's size.
	Binary bool

	// Plain turns what Unmarshal filled into the fixture's types, off the clock,
	// for answers. It is given the pointer that Target made, or a *any. Nil:
	// encoding/json and [fixture.Show] can read it as it is.
	Plain func(v any) (any, error)

	// Typed means that Unmarshal fills only types of its own, so that it cannot
	// decode into any.
	Typed bool

	// Shared means that Marshal returns memory that it uses again, so that it need
	// not allocate. True for the null contender, not for a codec.
	Shared bool

	// encodeInput returns the input of decoding operations in place of the fixture's body, off
	// the clock. It is for the null contender, whose input is its output.
	encodeInput func(op, fixture string, canonical []byte) ([]byte, error)

	// anyTarget returns the target of decoding into any in place of a new one. It is for the null
	// contender, which must not allocate.
	anyTarget func() any
}

// Main serves the lab that started this process as one codec, and exits.
func Main(i Impl) { contender.Main(newProgram(map[string]Impl{"": i})) }

// Variants is Main for a program that holds several codecs by name.
func Variants(impls map[string]Impl) { contender.Main(newProgram(impls)) }

func newProgram(impls map[string]Impl) contender.Program {
	names := slices.Sorted(maps.Keys(impls))
	p := contender.Program{Kind: Kind, Prepare: func(variant string, w wire.Workload, bodies [][]byte) (contender.Work, error) {
		return impls[variant].prepareOp(w, bodies)
	}}
	if _, one := impls[""]; !one {
		p.Variants = names
	}
	return p
}
