// Package grpccall finds a gRPC method, encodes calls from JSON, and checks replies. Methods come from protocol
// buffer files ([Compile]) or from the server ([Reflect]).
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

const (
	// prefixLen is the number of bytes before each message of gRPC. They are the compression flag and four bytes
	// of length.
	prefixLen = 5
	// maxChecked limits the memory of one decoded message, in bytes. Several threads check concurrently.
	maxChecked = 128 << 20
)

// Method is a method with the types of its messages.
type Method struct {
	d protoreflect.MethodDescriptor
}

// Split splits the path of a call, /package.Service/Method, into package.Service and Method.
func Split(path string) (service, method string, err error) {
	service, method, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if !ok || service == "" || method == "" || strings.ContainsAny(method, "/?") {
		return "", "", fmt.Errorf("the path %q is not /package.Service/Method", path)
	}
	return service, method, nil
}

// Compile finds the method of a path in a protocol buffer file. Imports come from its directory and from imports.
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

// findMethod finds a method among services. source names the file or server in errors.
func findMethod(services protoreflect.ServiceDescriptors, service, method, source string) (*Method, error) {
	var serviceNames []string
	for i := range services.Len() {
		s := services.Get(i)
		serviceNames = append(serviceNames, string(s.FullName()))
		if string(s.FullName()) != service {
			continue
		}
		if d := s.Methods().ByName(protoreflect.Name(method)); d != nil {
			return &Method{d}, nil
		}
		var methodNames []string
		for k := range s.Methods().Len() {
			methodNames = append(methodNames, string(s.Methods().Get(k).Name()))
		}
		return nil, fmt.Errorf("%s has no method %q: it has %s", service, method, strings.Join(methodNames, ", "))
	}
	if len(serviceNames) == 0 {
		return nil, fmt.Errorf("%s has no service", source)
	}
	return nil, fmt.Errorf("%s has no service %q: it has %s", source, service, strings.Join(serviceNames, ", "))
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

// Body returns the body of a call for a JSON value. Stream messages get prefixes. A client stream takes an array.
func (m *Method) Body(src []byte) ([]byte, error) {
	list := []json.RawMessage{src}
	if m.d.IsStreamingClient() && strings.HasPrefix(strings.TrimSpace(string(src)), "[") {
		list = nil
		if json.Unmarshal(src, &list) != nil {
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
			out = binary.BigEndian.AppendUint32(append(out, 0), uint32(len(b))) // 0: not compressed
		}
		out = append(out, b...)
	}
	return out, nil
}

// Bodies reads at most maxCalls JSON values and returns their bodies. White space between values is optional.
func (m *Method) Bodies(r io.Reader, maxCalls int) ([][]byte, error) {
	var list [][]byte
	for dec := json.NewDecoder(r); ; {
		var text json.RawMessage
		if err := dec.Decode(&text); err == io.EOF {
			return list, nil
		} else if err != nil {
			return nil, fmt.Errorf("value %d: %w", len(list)+1, err)
		}
		if len(list) == maxCalls {
			return nil, fmt.Errorf("more than %d values", maxCalls)
		}
		body, err := m.Body(text)
		if err != nil {
			return nil, fmt.Errorf("value %d: %w", len(list)+1, err)
		}
		list = append(list, body)
	}
}

// Check returns an error if a message of reply is invalid. It skips messages that would take too much memory.
func (m *Method) Check(reply []byte) error {
	for len(reply) > 0 {
		if len(reply) < prefixLen {
			return errors.New("half a prefix of a message")
		}
		n := uint64(binary.BigEndian.Uint32(reply[1:prefixLen]))
		reply = reply[prefixLen:]
		if n > uint64(len(reply)) {
			return errors.New("a message shorter than its prefix says")
		}
		budget := memoryBudget(maxChecked)
		err := budget.useMessage(reply[:n], m.d.Output(), 0)
		if err == nil {
			err = proto.Unmarshal(reply[:n], dynamicpb.NewMessage(m.d.Output()))
		}
		if err != nil && !errors.Is(err, errMemory) {
			return fmt.Errorf("not a %s: %w", m.d.Output().FullName(), err)
		}
		reply = reply[n:]
	}
	return nil
}
