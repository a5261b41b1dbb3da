package rpcstudy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

// This file generates the messages with which a method of the user's service is called. It uses the
// method's descriptor: a field "string name = 1" becomes "name-1".

// Limits of a generated message.
const (
	maxDepth  = 5     // nesting of messages
	maxFields = 2_000 // limit in total; further fields are omitted
	repeats   = 2     // elements of each list and map
)

// maxMessage limits the bytes of a message, generated or not.
const maxMessage = 1 << 20

// generateMessages returns the same request and response at each call. The request has the fields that
// gRPC-Gateway can carry. Of a oneof it sets the first field.
func (m *Method) generateMessages() (requests []proto.Message, answer proto.Message, err error) {
	requestFiller, replyFiller := messageFiller{}, messageFiller{}
	request := requestFiller.newMessage(m.desc.Input(), m.rule.canCarry, "")
	if err := m.rule.matchPath(request); err != nil {
		return nil, nil, err
	}
	if _, _, err := m.rule.encode(request.Interface()); err != nil {
		return nil, nil, fmt.Errorf("its google.api.http rule: %w", err)
	}
	reply := replyFiller.newMessage(m.desc.Output(), nil, "")
	for _, message := range []proto.Message{request.Interface(), reply.Interface()} {
		if err := proto.CheckInitialized(message); err != nil {
			return nil, nil, fmt.Errorf("no message of it can be generated: %w", err)
		}
	}
	return []proto.Message{request.Interface()}, reply.Interface(), nil
}

type messageFiller struct {
	open   []protoreflect.FullName // types of the messages that are being filled, the outermost first
	fields int                     // number of fields so far
}

// fieldFilter reports whether a request can contain the field at a path such as "user.name".
type fieldFilter func(path string, fd protoreflect.FieldDescriptor) bool

// newMessage returns a message with the fields that canSend accepts; nil accepts all. The path of the
// outermost message is "".
func (f *messageFiller) newMessage(md protoreflect.MessageDescriptor, canSend fieldFilter, path string) protoreflect.Message {
	m := dynamicpb.NewMessage(md)
	if fillKnown(m) {
		return m
	}
	f.open = append(f.open, md.FullName())
	defer func() { f.open = f.open[:len(f.open)-1] }()
	for i := range md.Fields().Len() {
		fd := md.Fields().Get(i)
		fieldPath := strings.TrimPrefix(path+"."+string(fd.Name()), ".")
		oneof := fd.ContainingOneof()
		if oneof != nil && !oneof.IsSynthetic() && m.WhichOneof(oneof) != nil {
			continue // another field of the oneof is set
		}
		if canSend != nil && !canSend(fieldPath, fd) || !f.countField(fd) {
			continue
		}
		switch {
		case fd.IsMap():
			f.fillMap(m.Mutable(fd).Map(), fd)
		case fd.IsList():
			list := m.Mutable(fd).List()
			for n := range repeats {
				list.Append(f.newValue(fd, n, nil, fieldPath))
			}
		default:
			v := f.newValue(fd, 0, canSend, fieldPath)
			isEmpty := fd.Message() != nil && proto.Size(v.Message().Interface()) == 0
			if isEmpty && canSend != nil && fd.Cardinality() != protoreflect.Required {
				continue // a query cannot encode a message without fields
			}
			m.Set(fd, v)
		}
	}
	return m
}

// countField counts a field and reports whether it may be filled. Recursive types would have no end.
func (f *messageFiller) countField(fd protoreflect.FieldDescriptor) bool {
	if f.fields++; f.fields > maxFields {
		return false
	}
	md := fd.Message()
	if fd.IsMap() {
		md = fd.MapValue().Message()
	}
	if md == nil {
		return true
	}
	for _, name := range f.open {
		if name == md.FullName() {
			return false
		}
	}
	return md.FullName() != anyName && (len(f.open) < maxDepth || fd.Cardinality() == protoreflect.Required)
}

const anyName = "google.protobuf.Any"

func (f *messageFiller) fillMap(m protoreflect.Map, fd protoreflect.FieldDescriptor) {
	for n := range repeats {
		key := f.newValue(fd.MapKey(), n, nil, string(fd.Name()))
		if fd.MapKey().Kind() == protoreflect.BoolKind {
			key = protoreflect.ValueOfBool(n == 0)
		}
		m.Set(key.MapKey(), f.newValue(fd.MapValue(), n, nil, ""))
	}
}

// newValue returns the n-th value, different for each field.
func (f *messageFiller) newValue(fd protoreflect.FieldDescriptor, n int, canSend fieldFilter, path string) protoreflect.Value {
	number := int(fd.Number()) + n
	switch fd.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(true)
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(int32(1000 + number))
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(uint32(1000 + number))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(int64(1_700_000_000 + number))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(uint64(1_700_000_000 + number))
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(float32(number) + 0.5)
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(float64(number) + 0.25)
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(fmt.Appendf(nil, "%-16d", number))
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(firstNonZero(fd.Enum()))
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return protoreflect.ValueOfMessage(f.newMessage(fd.Message(), canSend, path))
	}
	return protoreflect.ValueOfString(fmt.Sprintf("%s-%d", fd.Name(), number))
}

// firstNonZero returns the first value of an enum that is not 0, or 0 if there is no other.
func firstNonZero(e protoreflect.EnumDescriptor) protoreflect.EnumNumber {
	for i := range e.Values().Len() {
		if n := e.Values().Get(i).Number(); n != 0 {
			return n
		}
	}
	return e.Values().Get(0).Number()
}

// fillKnown fills a message of a type such as Timestamp, which protojson encodes in a special form. It
// returns false for other types.
func fillKnown(m protoreflect.Message) bool {
	field := func(name protoreflect.Name) protoreflect.FieldDescriptor { return m.Descriptor().Fields().ByName(name) }
	text := protoreflect.ValueOfString
	switch m.Descriptor().FullName() {
	case "google.protobuf.Timestamp":
		m.Set(field("seconds"), protoreflect.ValueOfInt64(1_700_000_000))
		m.Set(field("nanos"), protoreflect.ValueOfInt32(250_000_000))
	case "google.protobuf.Duration":
		m.Set(field("seconds"), protoreflect.ValueOfInt64(90))
		m.Set(field("nanos"), protoreflect.ValueOfInt32(500_000_000))
	case "google.protobuf.FieldMask":
		m.Mutable(field("paths")).List().Append(text("name"))
	case "google.protobuf.Value":
		m.Set(field("string_value"), text("value"))
	case "google.protobuf.ListValue":
		fillKnown(m.Mutable(field("values")).List().AppendMutable().Message())
	case "google.protobuf.Struct":
		fillKnown(m.Mutable(field("fields")).Map().Mutable(text("field").MapKey()).Message())
	case anyName, "google.protobuf.Empty": // stays empty
	default:
		return false
	}
	return true
}

func marshalMessage(m proto.Message) ([]byte, error) {
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err == nil && len(b) > maxMessage {
		err = errors.New("a message of more than 1 MiB")
	}
	return b, err
}

// toJSON returns a message as JSON without spaces, which protojson adds at random.
func toJSON(m proto.Message) ([]byte, error) {
	text, err := protojson.Marshal(m)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = json.Compact(&b, text)
	return b.Bytes(), err
}
