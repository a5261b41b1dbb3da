// Package rpcstudy makes a study, a comparison that tare measures, of a service that the user defines
// in a .proto file. The study compares gRPC, Connect and gRPC-Gateway, which translates HTTP and JSON.
// The package generates a server for each. Its handlers respond with a prepared message.
package rpcstudy

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/grpccall"
	"github.com/tarebench/tare/internal/format"
)

// Document is a file of protocol buffers, with its measured methods.
type Document struct {
	Name    string // path of the file, as the user typed it
	Methods []*Method
	Left    []tare.NotWeighed // methods that are not measured
	file    protoreflect.FileDescriptor
}

// Method is a unary method with the messages of its calls.
type Method struct {
	ID           string // unique in the document
	desc         protoreflect.MethodDescriptor
	rule         rule                        // how the gateway receives the call
	options      *descriptorpb.MethodOptions // without rules that the gateway rejects
	more         int                         // number of further rules, which are not measured
	requests     []proto.Message
	answer       proto.Message // response to every request
	userRequests bool          // requests are the user's, not generated
}

// Path returns the path of a call in gRPC and Connect: /pkg.Service/Method.
func (m *Method) Path() string {
	return fmt.Sprintf("/%s/%s", m.desc.Parent().FullName(), m.desc.Name())
}

// Read compiles the .proto file name, whose imports are in the directories imports. It selects the
// methods whose pkg.Service/Method matches only; nil selects all.
func Read(ctx context.Context, name string, imports []string, only *regexp.Regexp) (*Document, error) {
	file, err := grpccall.Load(ctx, name, imports)
	if err != nil {
		return nil, err
	}
	d := &Document{Name: name, file: file}
	var known []string // names of all methods
	for i := range file.Services().Len() {
		methods := file.Services().Get(i).Methods()
		for k := range methods.Len() {
			m := &Method{desc: methods.Get(k)}
			name := strings.TrimPrefix(m.Path(), "/")
			known = append(known, name)
			if only != nil && !only.MatchString(name) {
				continue
			}
			if why := d.prepareMethod(m); why != "" {
				d.Left = append(d.Left, tare.NotWeighed{What: "method " + name, Why: why})
				continue
			}
			d.Methods = append(d.Methods, m)
		}
	}
	d.nameMethods()
	switch {
	case file.Services().Len() == 0:
		return nil, fmt.Errorf("%s: there is no service in it", name)
	case len(known) == 0:
		return nil, fmt.Errorf("%s: its services have no methods", name)
	case len(d.Methods) > 0:
		return d, nil
	case len(d.Left) == 0:
		return nil, &NoMethodError{Pattern: only.String(), Known: known}
	}
	first := d.Left[0]
	return nil, fmt.Errorf("%s: nothing is left to measure: %s: %s", name, first.What, first.Why)
}

// NoMethodError reports that a pattern matches none of the methods.
type NoMethodError struct {
	Pattern string
	Known   []string // methods of the file, pkg.Service/Method
}

func (e *NoMethodError) Error() string {
	return fmt.Sprintf("--method %q matches no method", e.Pattern)
}

// nameMethods sets the ids. A name that is not unique or is allID becomes Service.Method.
func (d *Document) nameMethods() {
	count := map[protoreflect.Name]int{}
	for _, m := range d.Methods {
		count[m.desc.Name()]++
	}
	for _, m := range d.Methods {
		m.ID = string(m.desc.Name())
		if count[m.desc.Name()] > 1 || m.ID == allID {
			m.ID = fmt.Sprintf("%s.%s", m.desc.Parent().Name(), m.desc.Name())
		}
	}
}

// prepareMethod generates the messages of a method, or returns why it cannot be measured.
func (d *Document) prepareMethod(m *Method) (why string) {
	switch {
	case m.desc.IsStreamingClient() && m.desc.IsStreamingServer():
		return "it streams in both directions; unary methods are measured"
	case m.desc.IsStreamingClient():
		return "its client streams; unary methods are measured"
	case m.desc.IsStreamingServer():
		return "its server streams; unary methods are measured"
	}
	for _, message := range []protoreflect.MessageDescriptor{m.desc.Input(), m.desc.Output()} {
		if message.FullName() == httpBody {
			return "the gateway sends " + httpBody + " as it is, and not as JSON"
		}
	}
	var err error
	if m.options, err = readOptions(m.desc); err == nil {
		m.rule, m.more, err = firstRule(m.desc, m.options)
	}
	if err == nil {
		m.requests, m.answer, err = m.generateMessages()
	}
	if err != nil {
		location := m.desc.ParentFile().SourceLocations().ByDescriptor(m.desc)
		return fmt.Sprintf("%s:%d:%d: %v", d.Name, location.StartLine+1, location.StartColumn+1, err)
	}
	return ""
}

// httpBody is a message type that the gateway does not encode as JSON.
const httpBody = "google.api.HttpBody"

// Remarks returns lines for the user about methods and messages.
func (d *Document) Remarks() []string {
	var lines []string
	for _, l := range d.Left {
		lines = append(lines, fmt.Sprintf("%s: %s; left out", l.What, l.Why))
	}
	unbound, further := 0, 0 // methods without a rule, and with more than one
	for _, m := range d.Methods {
		if !m.rule.bound {
			unbound++
		}
		if m.more > 0 {
			further++
		}
	}
	if unbound > 0 {
		lines = append(lines, fmt.Sprintf("%d of %s without a google.api.http rule: the gateway has them at POST /package.Service/Method, with the message as JSON", unbound, d.countMethods()))
	}
	if further > 0 {
		lines = append(lines, fmt.Sprintf("%d of %s with more than one google.api.http rule: the first is measured", further, d.countMethods()))
	}
	return append(lines, d.describeMessages())
}

func (d *Document) describeMessages() string {
	withUserRequests := 0
	var requestSizes, responseSizes []int
	for _, m := range d.Methods {
		if m.userRequests {
			withUserRequests++
		}
		for _, q := range m.requests {
			requestSizes = append(requestSizes, proto.Size(q))
		}
		responseSizes = append(responseSizes, proto.Size(m.answer))
	}
	origin := "generated from the descriptors"
	switch {
	case withUserRequests == len(d.Methods):
		origin = "yours"
	case withUserRequests > 0:
		origin = fmt.Sprintf("yours for %d of %d methods, else generated from the descriptors", withUserRequests, len(d.Methods))
	}
	return fmt.Sprintf("messages are %s: requests of %s, answers of %s in protocol buffers", origin, formatSizes(requestSizes), formatSizes(responseSizes))
}

func formatSizes(sizes []int) string {
	low, high := slices.Min(sizes), slices.Max(sizes)
	if low == high {
		return fmt.Sprintf("%d B", low)
	}
	return fmt.Sprintf("%d to %d B", low, high)
}

func (d *Document) fileTitle() string { return filepath.Base(filepath.ToSlash(d.Name)) }

func (d *Document) countMethods() string { return format.Count(len(d.Methods), "method") }

// errUnsent reports that no HTTP request can carry a message to the gateway.
var errUnsent = errors.New("the gateway cannot be sent it")
