// Package grpccall finds a method of gRPC, in files of protocol buffers or by asking
// the server, and writes the messages that call it.
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

// Method is a method with what its messages are.
type Method struct {
	d protoreflect.MethodDescriptor
}

// Split takes the path of a call apart: /package.Service/Method.
func Split(path string) (service, method string, err error) {
	service, method, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if !ok || service == "" || method == "" || strings.ContainsAny(method, "/?") {
		return "", "", fmt.Errorf("the path %q is not /package.Service/Method", path)
	}
	return service, method, nil
}

// Compile finds the method that a path names in a file of protocol buffers, which
// imports from its own directory and from the ones given.
func Compile(ctx context.Context, file string, imports []string, path string) (*Method, error) {
	f, err := Load(ctx, file, imports)
	if err != nil {
		return nil, err
	}
	service, method, err := Split(path)
	if err != nil {
		return nil, err
	}
	return find(f.Services(), service, method, filepath.Base(file))
}

// find finds a method among services.
func find(list protoreflect.ServiceDescriptors, service, method, where string) (*Method, error) {
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

// Stream reports whether either side may send any number of messages.
func (m *Method) Stream() bool { return m.d.IsStreamingClient() || m.d.IsStreamingServer() }

// Kind says what the method is.
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

const prefixLen = 5 // of a message: whether it is compressed, and its length

// Body is what one call sends for a value of JSON: the message of a unary call; of
// all others messages with their prefixes. A client's stream takes an array.
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

// Bodies reads one value of JSON for each call, with any space between them.
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

// mostChecked is how many bytes of memory one message of an answer takes at most to be
// checked: several threads check at once.
const mostChecked = 128 << 20

// Check says what is wrong with the messages of an answer, with their prefixes. It does
// not look into a message that would take too much memory.
func (m *Method) Check(answer []byte) error {
	for len(answer) > 0 {
		if len(answer) < prefixLen {
			return errors.New("half a prefix of a message")
		}
		n := uint64(binary.BigEndian.Uint32(answer[1:prefixLen]))
		if answer = answer[prefixLen:]; n > uint64(len(answer)) {
			return errors.New("a message shorter than its prefix says")
		}
		room := memory(mostChecked)
		err := room.take(answer[:n], m.d.Output(), 0)
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
