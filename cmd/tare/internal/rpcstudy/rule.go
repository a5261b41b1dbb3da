package rpcstudy

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/tarebench/tare/internal/lazyregexp"
)

// rule is the HTTP request by which gRPC-Gateway receives a call of a method. It is the google.api.http
// rule of the method in the .proto file, such as
//
//	get: "/v1/{name=users/*}"
//
// A method without a rule has the gateway's default, POST /package.Service/Method.
type rule struct {
	method   string // HTTP method
	template string // path template, e.g. /v1/{name=users/*}:archive
	segments []segment
	verb     string // text after the colon of the template, e.g. archive
	body     string // field that is the body; "*" for all that are not in the path; "" for no body
	answer   string // field that is the body of the response; "" for all fields
	bound    bool   // the file has the rule; false for the default
}

// segment is a part of a path template: a text such as v1, or a field such as {name=users/*}.
type segment struct {
	text  string   // literal text, * or **; "" for a field
	field string   // path of a field; "" for text
	form  []string // segments of the field's value: literal text, * or **
}

// firstRule returns the first rule, and the number of others. It removes rules from o for which the
// gateway's plugin would reject the file.
func firstRule(m protoreflect.MethodDescriptor, o *descriptorpb.MethodOptions) (r rule, more int, err error) {
	if !proto.HasExtension(o, annotations.E_Http) {
		path := fmt.Sprintf("/%s/%s", m.Parent().FullName(), m.Name())
		r = rule{method: http.MethodPost, template: path, body: "*"}
		r.segments, r.verb, err = parseTemplate(path)
		return r, 0, err
	}
	h := proto.GetExtension(o, annotations.E_Http).(*annotations.HttpRule)
	if r, err = readRule(h, m); err != nil {
		return r, 0, err
	}
	more = len(h.GetAdditionalBindings())
	h.AdditionalBindings = slices.DeleteFunc(h.AdditionalBindings, func(other *annotations.HttpRule) bool {
		_, err := readRule(other, m)
		return err != nil || len(other.GetAdditionalBindings()) > 0
	})
	proto.SetExtension(o, annotations.E_Http, h)
	return r, more, nil
}

// readRule converts a google.api.http rule of the method m.
func readRule(h *annotations.HttpRule, m protoreflect.MethodDescriptor) (r rule, err error) {
	r = rule{body: h.GetBody(), answer: h.GetResponseBody(), bound: true}
	if r.answer == "*" { // the gateway sends the complete message
		r.answer = ""
	}
	var hasPattern bool
	r.method, r.template, hasPattern = patternOf(h)
	if !hasPattern {
		return r, ruleError("names no path")
	}
	switch r.method {
	case http.MethodGet:
		if r.body != "" {
			return r, ruleError("has a body, which the gateway rejects for GET")
		}
	case http.MethodPut, http.MethodPost, http.MethodDelete, http.MethodPatch: // a body is optional
	default:
		return r, ruleError("is for the method %s, which is not measured", r.method)
	}
	if r.segments, r.verb, err = parseTemplate(r.template); err != nil {
		return r, fmt.Errorf("its google.api.http rule: %w", err)
	}
	if err := r.checkPathFields(m.Input()); err != nil {
		return r, err
	}
	if err := checkBodyField(r.body, m.Input()); err != nil {
		return r, err
	}
	return r, checkBodyField(r.answer, m.Output())
}

func ruleError(format string, values ...any) error {
	return fmt.Errorf("its google.api.http rule "+format, values...)
}

// patternOf returns the HTTP method and the path template of a rule.
func patternOf(h *annotations.HttpRule) (method, template string, ok bool) {
	switch p := h.GetPattern().(type) {
	case *annotations.HttpRule_Get:
		return http.MethodGet, p.Get, true
	case *annotations.HttpRule_Put:
		return http.MethodPut, p.Put, true
	case *annotations.HttpRule_Post:
		return http.MethodPost, p.Post, true
	case *annotations.HttpRule_Delete:
		return http.MethodDelete, p.Delete, true
	case *annotations.HttpRule_Patch:
		return http.MethodPatch, p.Patch, true
	case *annotations.HttpRule_Custom:
		return p.Custom.GetKind(), p.Custom.GetPath(), true
	}
	return "", "", false
}

// checkPathFields returns an error unless each field of the path is a single value in every request.
func (r rule) checkPathFields(request protoreflect.MessageDescriptor) error {
	for _, s := range r.segments {
		if s.field == "" {
			continue
		}
		fd := fieldAt(request, s.field)
		isMessage := fd != nil && fd.Message() != nil && !isSingleValue(fd.Message())
		switch {
		case fd == nil:
			return ruleError("names the field %s, which %s has not", s.field, request.FullName())
		case isMessage || fd.Cardinality() == protoreflect.Repeated:
			return ruleError("has the field %s in the path, which is no single value", s.field)
		case hasOptional(request, s.field):
			return ruleError("has the field %s in the path, which is optional", s.field)
		}
	}
	return nil
}

// checkBodyField returns an error if the field of a body is missing. The names "" and "*" are valid.
func checkBodyField(name string, message protoreflect.MessageDescriptor) error {
	if name != "" && name != "*" && message.Fields().ByName(protoreflect.Name(name)) == nil {
		return ruleError("names the field %s, which %s has not", name, message.FullName())
	}
	return nil
}

// readOptions returns options with the Go types that are linked into tare, such as
// annotations.HttpRule. The imports of a .proto file give dynamic types.
func readOptions(m protoreflect.MethodDescriptor) (*descriptorpb.MethodOptions, error) {
	b, err := proto.Marshal(m.Options())
	if err != nil {
		return nil, err
	}
	o := &descriptorpb.MethodOptions{}
	return o, proto.Unmarshal(b, o)
}

// literalRE matches the characters of a segment of a path (RFC 3986).
var literalRE = lazyregexp.New(`^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@]|%[0-9A-Fa-f]{2})+$`)

// parseTemplate parses a path template as google/api/http.proto defines it. For
// "/v1/{name=users/*}:archive" it returns the segments v1 and name, and the verb archive.
func parseTemplate(template string) (list []segment, verb string, err error) {
	fail := func(problem string) ([]segment, string, error) {
		return nil, "", fmt.Errorf("the path %q %s", template, problem)
	}
	rest, ok := strings.CutPrefix(template, "/")
	if !ok {
		return fail("does not begin with a slash")
	}
	if strings.Count(template, "**") > 1 {
		return fail("has more than one **")
	}
	for {
		var s segment
		if inner, isField := strings.CutPrefix(rest, "{"); isField {
			name, after, isClosed := strings.Cut(inner, "}")
			if !isClosed {
				return fail("has a { without a }")
			}
			field, form, hasForm := strings.Cut(name, "=")
			if !hasForm {
				form = "*"
			}
			s.field, s.form, rest = field, strings.Split(form, "/"), after
			if field == "" || slices.Contains(s.form, "") {
				return fail("has an empty segment or field")
			}
			for _, part := range s.form {
				if !literalRE.MatchString(part) {
					return fail(fmt.Sprintf("has the segment %q: other characters than those of a path are written %%XX", part))
				}
			}
		} else {
			end := len(rest)
			if i := strings.IndexAny(rest, "/:{"); i >= 0 {
				end = i
			}
			s.text, rest = rest[:end], rest[end:]
			if s.text == "" {
				return fail("has an empty segment")
			}
			if !literalRE.MatchString(s.text) {
				return fail(fmt.Sprintf("has the segment %q: other characters than those of a path are written %%XX", s.text))
			}
		}
		list = append(list, s)
		switch {
		case rest == "":
			return list, "", nil
		case rest[0] == ':':
			if rest[1:] == "" || strings.ContainsAny(rest[1:], "/{}") {
				return fail("has no verb after its colon")
			}
			return list, rest[1:], nil
		case rest[0] != '/':
			return fail("has something else after a segment than a slash")
		}
		rest = rest[1:]
	}
}

// fieldAt returns the field of a message at a path such as "user.name", or nil. A path cannot lead
// through a repeated field.
func fieldAt(md protoreflect.MessageDescriptor, path string) (fd protoreflect.FieldDescriptor) {
	for name := range strings.SplitSeq(path, ".") {
		if md == nil {
			return nil
		}
		if fd = md.Fields().ByName(protoreflect.Name(name)); fd == nil {
			return nil
		}
		md = fd.Message()
		if fd.Cardinality() == protoreflect.Repeated {
			md = nil
		}
	}
	return fd
}

// hasOptional reports whether a field on the path is marked optional in proto3.
func hasOptional(md protoreflect.MessageDescriptor, path string) bool {
	for i := range len(path) + 1 {
		if isFieldEnd := i == len(path) || path[i] == '.'; !isFieldEnd {
			continue
		}
		if fd := fieldAt(md, path[:i]); fd.HasOptionalKeyword() && fd.ParentFile().Syntax() == protoreflect.Proto3 {
			return true
		}
	}
	return false
}

// inPath reports whether the HTTP path contains a field, e.g. "user.name".
func (r rule) inPath(path string) bool {
	return slices.ContainsFunc(r.segments, func(s segment) bool { return s.field == path })
}

// inBody reports whether the HTTP body contains a field that is not in the path.
func (r rule) inBody(path string) bool {
	return r.body == "*" || r.body != "" && (path == r.body || strings.HasPrefix(path, r.body+"."))
}

// canCarry reports whether a request can contain a field.
func (r rule) canCarry(path string, fd protoreflect.FieldDescriptor) bool {
	return r.inPath(path) || r.inBody(path) || canQuery(fd)
}

// canQuery reports whether a query can encode a field.
func canQuery(fd protoreflect.FieldDescriptor) bool {
	switch {
	case fd.IsMap():
		return fd.MapValue().Message() == nil
	case fd.Message() == nil:
		return true
	case fd.IsList():
		return false
	}
	switch fd.Message().FullName() {
	case anyName, "google.protobuf.Struct", "google.protobuf.Value", "google.protobuf.ListValue", "google.protobuf.Empty":
		return false
	}
	return true
}

// matchPath sets the fields in the HTTP path to the required form: {name=users/*} gets "users/name-1".
func (r rule) matchPath(m protoreflect.Message) error {
	for _, s := range r.segments {
		if s.field == "" {
			continue
		}
		parent, fd, err := fieldParent(m, s.field)
		if err != nil {
			return err
		}
		if fd.Kind() != protoreflect.StringKind {
			continue
		}
		var parts []string
		for _, form := range s.form {
			switch form {
			case "*":
				parts = append(parts, fmt.Sprintf("%s-%d", fd.Name(), fd.Number()))
			case "**":
				parts = append(parts, string(fd.Name()), fmt.Sprint(fd.Number()))
			default:
				parts = append(parts, form)
			}
		}
		parent.Set(fd, protoreflect.ValueOfString(strings.Join(parts, "/")))
	}
	return nil
}

// fieldParent returns the message with the field at path, and creates messages on the way. readRule has
// checked the path.
func fieldParent(m protoreflect.Message, path string) (protoreflect.Message, protoreflect.FieldDescriptor, error) {
	names := strings.Split(path, ".")
	for _, name := range names[:len(names)-1] {
		m = m.Mutable(m.Descriptor().Fields().ByName(protoreflect.Name(name))).Message()
	}
	fd := m.Descriptor().Fields().ByName(protoreflect.Name(names[len(names)-1]))
	if fd == nil {
		return nil, nil, fmt.Errorf("there is no field %s", path)
	}
	return m, fd, nil
}

// encode returns the HTTP path and the body, nil if the rule has none. Other fields become the query.
func (r rule) encode(message proto.Message) (path string, body []byte, err error) {
	rest := proto.Clone(message).ProtoReflect()
	var b strings.Builder
	for _, s := range r.segments {
		b.WriteByte('/')
		switch {
		case s.field == "" && s.text == "*":
			b.WriteString("x") // any text matches
		case s.field == "" && s.text == "**":
			b.WriteString("x/y")
		case s.field == "":
			b.WriteString(s.text)
		default:
			parent, fd, err := fieldParent(rest, s.field)
			if err != nil {
				return "", nil, err
			}
			value, err := formatValue(fd, parent.Get(fd))
			if err == nil && !s.matchesForm(value) {
				err = fmt.Errorf("the path %s has no place for %s %q", r.template, s.field, value)
			}
			if err != nil {
				return "", nil, err
			}
			for i, part := range strings.Split(value, "/") {
				if i > 0 {
					b.WriteByte('/')
				}
				b.WriteString(url.PathEscape(part))
			}
			parent.Clear(fd)
		}
	}
	if r.verb != "" {
		b.WriteString(":" + r.verb)
	}
	switch r.body {
	case "*":
		body, err = toJSON(rest.Interface())
		return b.String(), body, err
	case "": // all fields are in the path or the query
	default:
		fd := rest.Descriptor().Fields().ByName(protoreflect.Name(r.body))
		if body, err = fieldJSON(rest, fd); err != nil {
			return "", nil, err
		}
		rest.Clear(fd)
	}
	q := query{}
	if err := q.addMessage(rest, ""); err != nil {
		return "", nil, err
	}
	if len(q) > 0 {
		b.WriteString("?" + strings.Join(q, "&"))
	}
	return b.String(), body, nil
}

// matchesForm reports whether "users/7" has the form users/*, for example. The form ** matches any
// number of segments, the first not empty.
func (s segment) matchesForm(value string) bool {
	parts := strings.Split(value, "/")
	for i, form := range s.form {
		isMissing := i >= len(parts) || parts[i] == ""
		switch {
		case form == "**":
			return !isMissing
		case isMissing || form != "*" && parts[i] != form:
			return false
		}
	}
	return len(parts) == len(s.form)
}

// fieldJSON returns the JSON of a body that is one field, as the gateway expects it. Unlike protojson, it
// writes enums and 64-bit integers as numbers.
func fieldJSON(m protoreflect.Message, fd protoreflect.FieldDescriptor) ([]byte, error) {
	switch {
	case fd.IsMap(), fd.IsList() && fd.Message() != nil:
		if !m.Has(fd) {
			return nil, fmt.Errorf("%w: the body is the field %s, which is empty", errUnsent, fd.Name())
		}
		only := dynamicpb.NewMessage(m.Descriptor()) // a message with this field only
		only.Set(fd, m.Get(fd))
		text, err := toJSON(only) // {"field":value}
		_, value, _ := bytes.Cut(bytes.TrimSuffix(text, []byte("}")), []byte(":"))
		return value, err
	case fd.IsList():
		list := []any{}
		for i := range m.Get(fd).List().Len() {
			list = append(list, m.Get(fd).List().Get(i).Interface())
		}
		return json.Marshal(list)
	case fd.Message() != nil:
		return toJSON(m.Get(fd).Message().Interface())
	}
	return json.Marshal(m.Get(fd).Interface())
}

// query has the parameters of a URL's query, each as name=value with escapes.
type query []string

// addMessage adds the fields of a message. prefix, e.g. "user.", precedes their names.
func (q *query) addMessage(m protoreflect.Message, prefix string) (err error) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		fd := fields.Get(i)
		if !m.Has(fd) {
			continue
		}
		name := prefix + string(fd.Name())
		switch {
		case !canQuery(fd):
			return fmt.Errorf("%w: a query has no words for the field %s", errUnsent, name)
		case fd.IsMap():
			first := len(*q)
			m.Get(fd).Map().Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
				var value string
				value, err = formatValue(fd.MapValue(), v)
				q.addParameter(name+"["+k.String()+"]", value)
				return err == nil
			})
			slices.Sort((*q)[first:]) // maps have no order
		case fd.IsList():
			for k := 0; err == nil && k < m.Get(fd).List().Len(); k++ {
				var value string
				value, err = formatValue(fd, m.Get(fd).List().Get(k))
				q.addParameter(name, value)
			}
		case fd.Message() != nil && !isSingleValue(fd.Message()):
			err = q.addMessage(m.Get(fd).Message(), name+".")
		default:
			var value string
			value, err = formatValue(fd, m.Get(fd))
			q.addParameter(name, value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (q *query) addParameter(name, value string) {
	*q = append(*q, url.QueryEscape(name)+"="+url.QueryEscape(value))
}

// isSingleValue reports whether messages of a type are one value in a path or query.
func isSingleValue(md protoreflect.MessageDescriptor) bool {
	switch md.FullName() {
	case "google.protobuf.Timestamp", "google.protobuf.Duration", "google.protobuf.FieldMask",
		"google.protobuf.DoubleValue", "google.protobuf.FloatValue", "google.protobuf.Int64Value", "google.protobuf.UInt64Value",
		"google.protobuf.Int32Value", "google.protobuf.UInt32Value", "google.protobuf.BoolValue", "google.protobuf.StringValue", "google.protobuf.BytesValue":
		return true
	}
	return false
}

func formatValue(fd protoreflect.FieldDescriptor, v protoreflect.Value) (string, error) {
	switch fd.Kind() {
	case protoreflect.EnumKind:
		if value := fd.Enum().Values().ByNumber(v.Enum()); value != nil {
			return string(value.Name()), nil
		}
		return strconv.Itoa(int(v.Enum())), nil
	case protoreflect.BytesKind:
		return base64.URLEncoding.EncodeToString(v.Bytes()), nil
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return formatMessage(v.Message())
	}
	return v.String(), nil
}

// formatMessage formats a message of a type that isSingleValue accepts. The error for other types wraps
// errUnsent.
func formatMessage(m protoreflect.Message) (string, error) {
	fields := m.Descriptor().Fields()
	switch m.Descriptor().FullName() {
	case "google.protobuf.Timestamp":
		return time.Unix(m.Get(fields.ByName("seconds")).Int(), m.Get(fields.ByName("nanos")).Int()).UTC().Format(time.RFC3339Nano), nil
	case "google.protobuf.Duration":
		seconds, nanos := m.Get(fields.ByName("seconds")).Int(), m.Get(fields.ByName("nanos")).Int()
		return (time.Duration(seconds)*time.Second + time.Duration(nanos)).String(), nil
	case "google.protobuf.FieldMask":
		var paths []string
		for i := range m.Get(fields.ByName("paths")).List().Len() {
			paths = append(paths, m.Get(fields.ByName("paths")).List().Get(i).String())
		}
		return strings.Join(paths, ","), nil
	}
	if value := fields.ByName("value"); isSingleValue(m.Descriptor()) && value != nil {
		return formatValue(value, m.Get(value))
	}
	return "", fmt.Errorf("%w: %s is no single value", errUnsent, m.Descriptor().FullName())
}
