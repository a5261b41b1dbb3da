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
	// Load builds the value to encode from a body of the fixture, which is canonical JSON. Its time is not
	// measured. Codecs that need their own types, such as generated code, build values of these types, and
	// return [contender.ErrUnsupported] for fixtures for which they have no type. If Load is nil,
	// [fixture.Decode] is used.
	Load func(fixture string, canonical []byte) (any, error)

	// Target returns a function that makes the pointer for Unmarshal. The time of that function is measured. Target
	// returns nil if the codec has no type for the fixture. If Target itself is nil, [fixture.Target] is used.
	Target func(fixture string) func() any

	// Marshal, Stream and Unmarshal are the measured functions of the codec.
	Marshal   func(v any) ([]byte, error)
	Stream    func(w io.Writer, v any) error
	Unmarshal func(data []byte, target any) error

	// Fields returns a function that reads the few fields of a fixture (see [fixture.Fields]) in a body, in
	// the way that the library recommends. It returns nil if the codec cannot do that for the fixture. The
	// result of that function is encoded as JSON for answers; it should be a pointer, because other values
	// allocate when they are put into an interface. If Fields is nil, the codec unmarshals into
	// [fixture.FieldsTarget], a type with these fields only.
	Fields func(fixture string) func(data []byte) (any, error)

	// Binary means that the encoding is not JSON. The input of Unmarshal is then the output of Marshal for
	// the fixture's values, computed before the measurement. For answers, Unmarshal decodes an output and
	// the value is encoded as JSON.
	Binary bool

	// Plain converts a value that Unmarshal has filled into the fixture's types, for answers. Its time is
	// not measured. v is the pointer that Target made, or a *any. It may be nil if encoding/json and
	// [fixture.Show] can read the value as it is.
	Plain func(v any) (any, error)

	// Typed means that Unmarshal supports only the codec's own types, so that it cannot decode into any.
	Typed bool

	// Shared means that Marshal returns memory that its next call overwrites, so that it need not allocate.
	// It is true only for the null contender, which does as little as possible, to measure the harness.
	Shared bool

	// encodeInput returns the input of decoding operations in place of the fixture's
	// body. It is for the null contender, whose output is its input.
	encodeInput func(op, fixture string, canonical []byte) ([]byte, error)

	// anyTarget returns the target of decoding into any in place of a new one. It is
	// for the null contender, which must not allocate.
	anyTarget func() any
}

// Main serves the lab that started this process as one codec, and exits.
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
