// Package grpccall finds a gRPC method in protocol buffer files or by reflection of
// the server, and encodes the messages of its calls.
package grpccall

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

// Method is a method with the types of its messages.
type Method struct {
	d protoreflect.MethodDescriptor
}

// Split splits the path of a call, /package.Service/Method.
func Split(path string) (service, method string, err error) {
	service, method, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if !ok || service == "" || method == "" || strings.ContainsAny(method, "/?") {
		return "", "", fmt.Errorf("the path %q is not /package.Service/Method", path)
	}
	return service, method, nil
}

// Compile finds the method of a path in a protocol buffer file. Imports come from its directory
// and from imports.
func Compile(ctx context.Context, file string, imports []string, path string) (*Method, error) {
	f, err := Load(ctx, file, imports)
	if err != nil {
		return nil, err
	}
	service, method, err := Split(path)
	if err != nil {
		return nil, err
	}
	return findMethod(f.Services(), service, method, filepath.Base(file))
}

// findMethod finds a method among services.
func findMethod(list protoreflect.ServiceDescriptors, service, method, where string) (*Method, error) {
	var known []string
	for i := range list.Len() {
		s := list.Get(i)
		if known = append(known, string(s.FullName())); string(s.FullName()) != service {
			continue
		}
		if d := s.Methods().ByName(protoreflect.Name(method)); d != nil {
			return &Method{d}, nil
		}
		known = known[:0]
		for k := range s.Methods().Len() {
			known = append(known, string(s.Methods().Get(k).Name()))
		}
		return nil, fmt.Errorf("%s has no method %q: it has %s", service, method, strings.Join(known, ", "))
	}
	if len(known) == 0 {
		return nil, fmt.Errorf("%s has no service", where)
	}
	return nil, fmt.Errorf("%s has no service %q: it has %s", where, service, strings.Join(known, ", "))
}

// Stream reports whether either side can send several messages.
func (m *Method) Stream() bool { return m.d.IsStreamingClient() || m.d.IsStreamingServer() }

// Kind returns the kind of the method in words.
func (m *Method) Kind() string {
	switch {
	case m.d.IsStreamingClient() && m.d.IsStreamingServer():
		return "bidirectional stream"
	case m.d.IsStreamingClient():
		return "client stream"
	case m.d.IsStreamingServer():
		return "server stream"
	}
	return "unary"
}

const prefixLen = 5 // bytes before a message: the compression flag and the length

// Body returns the body of a call for a JSON value: the message of a unary call, or the
// messages of a stream with their prefixes. A client stream takes an array.
func (m *Method) Body(src []byte) ([]byte, error) {
	list := []json.RawMessage{src}
	if m.d.IsStreamingClient() && strings.HasPrefix(strings.TrimSpace(string(src)), "[") {
		if list = nil; json.Unmarshal(src, &list) != nil {
			return nil, errors.New("not an array of JSON")
		}
	}
	var out []byte
	for _, text := range list {
		msg := dynamicpb.NewMessage(m.d.Input())
		if err := protojson.Unmarshal(text, msg); err != nil {
			return nil, fmt.Errorf("not a %s: %w", m.d.Input().FullName(), err)
		}
		b, err := proto.MarshalOptions{Deterministic: true}.Marshal(msg)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.d.Input().FullName(), err)
		}
		if m.Stream() {
			out = binary.BigEndian.AppendUint32(append(out, 0), uint32(len(b)))
		}
		out = append(out, b...)
	}
	return out, nil
}

// Bodies reads one JSON value per call. White space between values is optional.
func (m *Method) Bodies(r io.Reader, most int) ([][]byte, error) {
	var list [][]byte
	for dec := json.NewDecoder(r); ; {
		var text json.RawMessage
		if err := dec.Decode(&text); err == io.EOF {
			return list, nil
		} else if err != nil {
			return nil, fmt.Errorf("value %d: %w", len(list)+1, err)
		}
		if len(list) == most {
			return nil, fmt.Errorf("more than %d values", most)
		}
		body, err := m.Body(text)
		if err != nil {
			return nil, fmt.Errorf("value %d: %w", len(list)+1, err)
		}
		list = append(list, body)
	}
}

// maxChecked limits the memory of a message of a reply that is
// checked: several threads check concurrently.
const maxChecked = 128 << 20

// Check returns an error if the messages of a reply, with their prefixes, are invalid. It skips
// messages that would take too much memory.
func (m *Method) Check(answer []byte) error {
	for len(answer) > 0 {
		if len(answer) < prefixLen {
			return errors.New("half a prefix of a message")
		}
		n := uint64(binary.BigEndian.Uint32(answer[1:prefixLen]))
		if answer = answer[prefixLen:]; n > uint64(len(answer)) {
			return errors.New("a message shorter than its prefix says")
		}
		room := memoryBudget(maxChecked)
		err := room.useMessage(answer[:n], m.d.Output(), 0)
		if err == nil {
			err = proto.Unmarshal(answer[:n], dynamicpb.NewMessage(m.d.Output()))
		}
		if err != nil && !errors.Is(err, errMemory) {
			return fmt.Errorf("not a %s: %w", m.d.Output().FullName(), err)
		}
		answer = answer[n:]
	}
	return nil
}
