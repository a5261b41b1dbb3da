package grpccall

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// memory is how many bytes messages may still take once they are decoded. A field of
// two bytes can be a message of five hundred.
type memory int

// What is decoded takes about as much at most. Measured were 263 bytes for a field of a
// descriptor, 347 with what is built of it, and 527 for one of a dynamic message.
const (
	fieldTakes  = 512
	numberTakes = 32 // in a packed list; measured were 24
)

// deepest is how many messages may be in each other. The decoders of C++, Java and
// others have the same limit.
const deepest = 100

var (
	errMemory = errors.New("too much memory")
	errDeep   = fmt.Errorf("messages in messages, more than %d deep", deepest)
)

// take takes off what a message takes, deep messages inside others.
func (m *memory) take(b []byte, d protoreflect.MessageDescriptor, deep int) error {
	if deep > deepest {
		return errDeep
	}
	return eachField(b, func(n protowire.Number, kind protowire.Type, v []byte) error {
		*m -= fieldTakes
		f := d.Fields().ByNumber(n)
		if f == nil {
			if x, err := protoregistry.GlobalTypes.FindExtensionByNumber(d.FullName(), n); err == nil {
				f = x.TypeDescriptor()
			}
		}
		if f != nil && f.IsList() && kind == protowire.BytesType {
			*m -= memory(numbers(f.Kind(), v) * numberTakes)
		}
		switch {
		case *m < 0:
			return errMemory
		case f == nil || f.Message() == nil:
			return nil
		}
		return m.take(v, f.Message(), deep+1)
	})
}

// numbers is how many numbers a packed list of them has.
func numbers(kind protoreflect.Kind, packed []byte) int {
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
		if b < 0x80 { // it ends a number
			n++
		}
	}
	return n
}

// eachField calls do for each field of a message, with what is in it if it is bytes or
// a group.
func eachField(b []byte, do func(protowire.Number, protowire.Type, []byte) error) error {
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
		if err := do(n, kind, v); err != nil {
			return err
		}
		b = b[size:]
	}
	return nil
}
