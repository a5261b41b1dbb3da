// Package codec is the kind of contender that turns Go values into bytes and
// back. An author fills in an [Impl] and calls [Main]:
//
//	func main() {
//		codec.Main(codec.Impl{Marshal: json.Marshal, Unmarshal: json.Unmarshal})
//	}
//
// Operations, as studies name them:
//
//	marshal    encodes a value into a new byte slice
//	stream     encodes a value into an io.Writer
//	unmarshal  decodes bytes into a new value of the fixture's type
//	any        decodes bytes into a new value of types that the codec chooses
//	fields     reads a few fields of every item in JSON, as [fixture.Fields] does
//	roundtrip  encodes a value and decodes the bytes into a new value
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

// Impl is a codec. It does not support operations whose functions are nil.
type Impl struct {
	// Load builds the value to encode from a body of the fixture, compact JSON. It is not timed. A codec with
	// its own types, such as generated code, returns [contender.ErrUnsupported] for fixtures without a type.
	// If Load is nil, [fixture.Decode] is used.
	Load func(fixture string, canonical []byte) (any, error)

	// Target returns a timed function that makes the pointer for Unmarshal. It returns nil without a type for
	// the fixture. If Target itself is nil, [fixture.Target] is used.
	Target func(fixture string) func() any

	// Marshal, Stream and Unmarshal are the measured functions of the codec.
	Marshal   func(v any) ([]byte, error)
	Stream    func(w io.Writer, v any) error
	Unmarshal func(data []byte, target any) error

	// Fields returns a function that reads a few fields of a fixture (see [fixture.Fields]), as the library
	// recommends. It returns nil if the codec cannot do that. The result should be a pointer: other values
	// allocate in an interface.
	//
	// If Fields is nil, the codec unmarshals into [fixture.FieldsTarget].
	Fields func(fixture string) func(data []byte) (any, error)

	// Binary means that the encoding is not JSON. The input of Unmarshal is then output of Marshal. For
	// answers, Unmarshal decodes an output, and the value is encoded as JSON.
	Binary bool

	// Plain converts a value of Unmarshal into the fixture's types, for answers. v is the pointer of Target,
	// or a *any. It is not timed. nil means that encoding/json and [fixture.Show] can read v.
	Plain func(v any) (any, error)

	// Typed means that Unmarshal cannot decode into any.
	Typed bool

	// Shared means that Marshal returns memory that its next call overwrites. It is for the null contender,
	// which does nothing: its cost is that of the timed loop itself.
	Shared bool

	// encodeInput replaces the body for decoding. The null contender needs it: its output is its input.
	encodeInput func(op, fixture string, canonical []byte) ([]byte, error)

	// anyTarget is the null contender's target of decoding into any: it must not allocate.
	anyTarget func() any
}

// Main runs this process as one codec, and exits.
func Main(i Impl) { contender.Main(newProgram(map[string]Impl{"": i})) }

// Variants is Main for a program with several codecs by name.
func Variants(impls map[string]Impl) { contender.Main(newProgram(impls)) }

func newProgram(impls map[string]Impl) contender.Program {
	names := slices.Sorted(maps.Keys(impls))
	p := contender.Program{Kind: Kind, Prepare: func(variant string, w wire.Workload, bodies [][]byte) (contender.Work, error) {
		return impls[variant].prepareOp(w, bodies)
	}}
	if _, isSingle := impls[""]; !isSingle {
		p.Variants = names
	}
	return p
}
