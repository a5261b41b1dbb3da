package grpccall

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// memoryBudget is the number of bytes that decoded messages may still take. Encoded sizes say little: two bytes
// can decode to a message of 500.
type memoryBudget int

// Estimates of decoded sizes in bytes. We measured 263 for a field of a descriptor and 347 with its built form. A
// field of a dynamic message took 527.
const (
	fieldCost  = 512
	numberCost = 32 // of a number in a packed list; we measured 24
)

// maxDepth limits the nesting of messages, as decoders of C++ and Java do.
const maxDepth = 100

var (
	errMemory = errors.New("too much memory")
	errDeep   = fmt.Errorf("messages in messages, more than %d deep", maxDepth)
)

// useMessage subtracts the memory of the encoded message b of type d. depth is its nesting.
func (m *memoryBudget) useMessage(b []byte, d protoreflect.MessageDescriptor, depth int) error {
	if depth > maxDepth {
		return errDeep
	}
	return forEachField(b, func(n protowire.Number, kind protowire.Type, v []byte) error {
		*m -= fieldCost
		f := d.Fields().ByNumber(n)
		if f == nil { // perhaps an extension, such as google.api.http
			if x, err := protoregistry.GlobalTypes.FindExtensionByNumber(d.FullName(), n); err == nil {
				f = x.TypeDescriptor()
			}
		}
		if f != nil && f.IsList() && kind == protowire.BytesType {
			*m -= memoryBudget(countNumbers(f.Kind(), v) * numberCost)
		}
		switch {
		case *m < 0:
			return errMemory
		case f == nil || f.Message() == nil:
			return nil
		}
		return m.useMessage(v, f.Message(), depth+1)
	})
}

// countNumbers counts the numbers in a packed list.
func countNumbers(kind protoreflect.Kind, packed []byte) int {
	switch kind {
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.MessageKind, protoreflect.GroupKind:
		return 0
	case protoreflect.Fixed32Kind, protoreflect.Sfixed32Kind, protoreflect.FloatKind:
		return len(packed) / 4
	case protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind, protoreflect.DoubleKind:
		return len(packed) / 8
	}
	n := 0
	for _, b := range packed {
		if b < 0x80 { // only the last byte of a varint has no continuation bit
			n++
		}
	}
	return n
}

// forEachField calls visit for each field of the encoded message b. The third argument is the content of bytes or
// a group, otherwise nil.
func forEachField(b []byte, visit func(protowire.Number, protowire.Type, []byte) error) error {
	for len(b) > 0 {
		n, kind, tag := protowire.ConsumeTag(b)
		if tag < 0 {
			return protowire.ParseError(tag)
		}
		b = b[tag:]
		var v []byte
		size := 0
		switch kind {
		case protowire.BytesType:
			v, size = protowire.ConsumeBytes(b)
		case protowire.StartGroupType:
			v, size = protowire.ConsumeGroup(n, b)
		default:
			size = protowire.ConsumeFieldValue(n, kind, b)
		}
		if size < 0 {
			return protowire.ParseError(size)
		}
		if err := visit(n, kind, v); err != nil {
			return err
		}
		b = b[size:]
	}
	return nil
}
