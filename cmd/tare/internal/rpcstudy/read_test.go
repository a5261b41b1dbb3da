package rpcstudy

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/grpccall"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/kinds/server"
)

// protoFile writes a file of protocol buffers into a new directory, and returns its path.
func protoFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "own.proto")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The calls of a method over the gateway are those that its rule asks for.
func TestList(t *testing.T) {
	d := document(t, "testdata/shop.proto")
	calls, err := d.Calls()
	if err != nil {
		t.Fatal(err)
	}
	text := FormatCalls(calls)
	for _, line := range []string{
		"Orders.Get\n  grpc, connect  POST /shop.v1.Orders/Get, ",
		"  gateway        GET /v1/shops/name-1/orders/name-1?at=2023-11-14T22%3A13%3A20.25Z&draft=true\n",
		"  gateway        POST /v1/shops/parent-1/orders?request_id=request_id-2, {\"name\":",
		"  gateway        PATCH /v1/shops/name-1/orders/name-1?update_mask=name, {\"lines\":",
		"  gateway        POST /v1/orders/1700000001:cancel, {\"reason\":\"reason-2\"}\n",
		"  gateway        DELETE /v1/shops/name/1?at=",
		"  gateway        GET /v1/orders?text=text-1&tags=tags-2&tags=tags-3&sort=NEWEST&sort=NEWEST&price.from.units=1700000001&price.from.currency=EUR&price.to=1.25&within=1m30.5s&",
		"Plain.Get\n", "  gateway        POST /shop.v1.Plain/Get, {\"name\":\"name-1\",",
		"Everything\n",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in\n%s", line, text)
		}
	}
	calls, err = document(t, "testdata/shop.proto").Calls()
	if again := FormatCalls(calls); err != nil || again != text {
		t.Errorf("generated again there is something else, %v:\n%s", err, again)
	}
	for _, line := range []string{
		"method shop.v1.Orders/Watch: its server streams", "method shop.v1.Orders/Upload: its client streams", "method shop.v1.Orders/Chat: it streams in both directions",
		"2 of 8 methods without a google.api.http rule", "1 of 8 methods with more than one google.api.http rule", "messages are generated from the descriptors: requests of ",
	} {
		if !strings.Contains(strings.Join(d.Remarks(), "\n"), line) {
			t.Errorf("no remark %q: %q", line, d.Remarks())
		}
	}
}

func TestReadOnly(t *testing.T) {
	d, err := Read(t.Context(), "testdata/shop.proto", nil, regexp.MustCompile("Orders/(Get|Watch)"))
	if err != nil || len(d.Methods) != 1 || d.Methods[0].ID != "Get" || len(d.Left) != 1 {
		t.Errorf("%+v, %v", d, err)
	}
	if works := d.Study("", all).Workloads; len(works) != 2 || works[0].ID != allID || works[1].ID != oneID {
		t.Errorf("%+v", works)
	}
	_, err = Read(t.Context(), "testdata/shop.proto", nil, regexp.MustCompile("Gett"))
	var none *NoMethodError
	if !errors.As(err, &none) || !slices.Contains(none.Known, "shop.v1.Orders/Get") {
		t.Errorf("%v", err)
	}
}

// What cannot be read, or measured, is reported with its position.
func TestReadWrong(t *testing.T) {
	const head = "syntax = \"proto3\";\nimport \"google/api/annotations.proto\";\nmessage M { string a = 1; repeated string b = 2; M m = 3; }\n"
	rule := func(text string) string {
		return head + "service S {\n  rpc Do(M) returns (M) { option (google.api.http) = {" + text + "}; }\n}\n"
	}
	for text, want := range map[string]string{
		"":                      "own.proto: there is no service in it",
		head + "service S {}\n": "own.proto: its services have no methods",
		head + "service S {\n":  "own.proto:5:1: syntax error: unexpected end of file",
		head + "service S { rpc A(N) returns (M); rpc B(M) returns (O); }": "own.proto:4:19: method S.A: unknown request type N (and 1 more)",
		"syntax = \"proto4\";":      "own.proto:1:10: syntax value must be",
		"import \"no/such.proto\";": "own.proto:1:8: there is no no/such.proto in ",
		"import \"own.proto\";":     "own.proto:1:8: cycle found in imports: ",
		"\x00\xff":                  "own.proto:1:1: ",
		head + "service S {\n  rpc Do(stream M) returns (M);\n}": "own.proto: nothing is left to measure: method S/Do: its client streams; unary methods are measured",
		rule(`get: "v1"`):                          `own.proto:5:3: its google.api.http rule: the path "v1" does not begin with a slash`,
		rule(`get: "/v1/{a"`):                      `the path "/v1/{a" has a { without a }`,
		rule(`get: "/v1//x"`):                      `the path "/v1//x" has an empty segment`,
		rule(`get: "/v1/{}"`):                      `the path "/v1/{}" has an empty segment or field`,
		rule(`get: "/v1/{a}b"`):                    `has something else after a segment than a slash`,
		rule(`get: "/v1/{a}:"`):                    `has no verb after its colon`,
		rule(`get: "/v1/{c}"`):                     "names the field c, which M has not",
		rule(`get: "/v1/{m.c}"`):                   "names the field m.c, which M has not",
		rule(`get: "/v1/{b}"`):                     "has the field b in the path, which is no single value",
		rule(`get: "/v1/{m}"`):                     "has the field m in the path, which is no single value",
		rule(`post: "/v1" body: "c"`):              "names the field c, which M has not",
		rule(`custom: {kind: "HEAD" path: "/v1"}`): "is for the method HEAD, which is not measured",
		rule(``): "its google.api.http rule names no path",
		"syntax = \"proto3\";\nimport \"google/api/httpbody.proto\";\nservice S { rpc A(google.api.HttpBody) returns (google.api.HttpBody); }": "the gateway sends google.api.HttpBody as it is, and not as JSON",
	} {
		_, err := Read(t.Context(), protoFile(t, text), nil, nil)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: error %v, want one line with %q", text, err, want)
		}
	}
	_, err := Read(t.Context(), protoFile(t, head+"service S { rpc A(N) returns (M); rpc B(M) returns (O); }"), nil, nil)
	var wrong *grpccall.SourceError
	if !errors.As(err, &wrong) || len(wrong.Lines) != 2 || !strings.Contains(wrong.Lines[1], "own.proto:4:53: method S.B: unknown response type O") {
		t.Errorf("%v", err)
	}
}

// What a message may hold it does, within bounds, and it can be sent and read.
func TestFill(t *testing.T) {
	d := document(t, "testdata/shop.proto")
	for _, m := range d.Methods {
		for _, one := range append(slices.Clone(m.requests), m.answer) {
			b, err := marshalMessage(one)
			if err != nil {
				t.Fatalf("%s: %v", m.ID, err)
			}
			again := one.ProtoReflect().New().Interface()
			if err := proto.Unmarshal(b, again); err != nil || !proto.Equal(one, again) {
				t.Errorf("%s: %v", m.ID, err)
			}
			text, err := toJSON(one)
			if err != nil {
				t.Fatal(err)
			}
			if err := protojson.Unmarshal(text, again); err != nil || !proto.Equal(one, again) {
				t.Errorf("%s: %v", m.ID, err)
			}
		}
		if m.ID != "Everything" {
			continue
		}
		fields := m.desc.Input().Fields()
		for i := range fields.Len() {
			switch fd := fields.Get(i); {
			case m.answer.ProtoReflect().Has(fd):
			case fd.Name() == "itself", fd.Name() == "range": // without end, and the other one of a oneof
			default:
				t.Errorf("%s is not set", fd.Name())
			}
		}
	}
	// A tree of messages that is wide and deep.
	text := "syntax = \"proto3\";\nservice S { rpc Do(A0) returns (A0); }\n"
	const deep, fields = 10, 20
	for i := range deep {
		text += fmt.Sprintf("message A%d { string a = 1;", i)
		for k := range fields {
			text += fmt.Sprintf(" A%d f%d = %d;", i+1, k, k+2)
		}
		text += " }\n"
	}
	text += fmt.Sprintf("message A%d { string a = 1; }\n", deep)
	if n := proto.Size(document(t, protoFile(t, text)).Methods[0].answer); n == 0 || n > 10*maxFields {
		t.Errorf("%d bytes", n)
	}
}

// Answers that mean another message are found in every protocol, and those that say
// the same otherwise are right.
func TestDecode(t *testing.T) {
	d := document(t, "testdata/shop.proto")
	app, err := d.App()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range d.Methods {
		pool, err := app.Requests(tare.Workload{Op: m.ID})
		if err != nil || len(pool) != 1 {
			t.Fatalf("%s: %d requests, %v", m.ID, len(pool), err)
		}
		want, err := handlerResponses(wire.Workload{}, pool)
		if err != nil {
			t.Fatal(err)
		}
		b, err := marshalMessage(m.answer)
		if err != nil {
			t.Fatal(err)
		}
		spaced := protojson.MarshalOptions{Multiline: true, EmitUnpopulated: true, UseProtoNames: true}.Format(m.answer)
		sent := spaced
		if m.rule.answer != "" {
			text, err := fieldJSON(m.answer.ProtoReflect(), m.desc.Output().Fields().ByName("orders"))
			if err != nil {
				t.Fatal(err)
			}
			sent = string(text)
		}
		for _, c := range []struct {
			kind, body string
			decode     func(server.Request, server.Response) server.Response
		}{
			{typeGRPC, "\x00" + string([]byte{0, 0, byte(len(b) >> 8), byte(len(b))}) + string(b), decodeGRPC},
			{typeProto, string(b), decodeProto},
			{server.TypeJSON, spaced, decodeJSON},
			{server.TypeJSON, sent, decodeRule},
		} {
			got := c.decode(pool[0], server.Answered(c.kind, []byte(c.body)))
			if got.Header[server.ContentType] != server.TypeJSON || !server.SameJSON(want[0].Body, got.Body) {
				t.Errorf("%s, %s: %s, want %s", m.ID, c.kind, got.Body, want[0].Body)
			}
			for _, body := range []string{"", c.body + "x", "{", "\xff\xff\xff"} {
				got := c.decode(pool[0], server.Answered(c.kind, []byte(body)))
				empty := proto.Size(m.answer) == 0 && body == ""
				if server.SameJSON(want[0].Body, got.Body) && !empty {
					t.Errorf("%s, %s: %q counts as right", m.ID, c.kind, body)
				}
			}
			got = c.decode(pool[0], server.Answered("text/html", []byte(c.body)))
			if got.Header[server.ContentType] == server.TypeJSON {
				t.Errorf("%s: HTML counts as %s", m.ID, c.kind)
			}
		}
	}
}

// A user's messages take the place of those that are generated.
func TestData(t *testing.T) {
	d := document(t, "testdata/shop.proto")
	err := d.Fill("calls.json", []byte(`{"method": "Cancel", "request": {"number": "7"}}
{"method": "shop.v1.Orders/Cancel",
 "request": {"number": "8", "reason": "a/b c"}, "response": {}}
{"method": "Plain.Get", "response": {"name": "x"}}`))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(d.Methods, func(m *Method) bool { return m.ID == "Cancel" })
	if m := d.Methods[i]; len(m.requests) != 2 || !m.userRequests {
		t.Errorf("%+v", m)
	}
	i = slices.IndexFunc(d.Methods, func(m *Method) bool { return m.ID == "Plain.Get" })
	if m := d.Methods[i]; len(m.requests) != 1 || m.userRequests || proto.Size(m.answer) != 3 {
		t.Errorf("%+v", m)
	}
	app, err := d.App()
	if err != nil {
		t.Fatal(err)
	}
	if pool, err := app.Requests(tare.Workload{Op: allID}); err != nil || len(pool) != 2*len(d.Methods) {
		t.Errorf("%d requests, %v", len(pool), err)
	}
	if said := d.describeMessages(); !strings.Contains(said, "yours for 1 of 8 methods, else generated") {
		t.Error(said)
	}
}

func TestDataWrong(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "calls.json:1:1: there is nothing in it",
		"{\"method\": \"Cancel\",\n}":        "calls.json:2:1: invalid character '}'",
		`[]`:                                 "calls.json:1:1: a value is an object with method, request and response, not array",
		`{"methods": "Cancel"}`:              `calls.json:1:1: unknown field "methods"`,
		`{"method": "Cancel"`:                "calls.json:1:20: the file ends too early",
		`{"request": {}}`:                    "calls.json:1:1: the value names no method; it has Orders.Get, ",
		`{"method": "Watch", "request": {}}`: `calls.json:1:1: no method "Watch" is measured; these are: Orders.Get, `,
		`{"method": "Cancel"}`:               "calls.json:1:1: the value has neither request nor response",
		"{\"method\": \"Cancel\", \"request\": {}}\n {\"method\": \"Cancel\", \"request\": {\"no\": 1}}":                                             `calls.json:2:2: request: not a shop.v1.CancelOrder: `,
		`{"method": "Orders.Get", "request": {"name": "shops/a"}}`:                                                                                   `request: GET /v1/{name=shops/*/orders/*} of the gateway: the path /v1/{name=shops/*/orders/*} has no place for name "shops/a"`,
		`{"method": "Search", "request": {"ranges": [{"from": {"units": 1}}]}}`:                                                                      "the gateway cannot be sent it: a query has no words for the field ranges",
		`{"method": "Cancel", "response": {}} {"method": "Plain.Get", "response": {"name": "a"}} {"method": "Plain.Get", "response": {"name": "b"}}`: "calls.json:1:89: Plain.Get has another response already, and answers each request with the same",
		`{"method": "Cancel", "request": {"reason": "` + strings.Repeat("x", maxMessage) + `"}}`:                                                     "calls.json:1:1: request: a message of more than 1 MiB",
	} {
		err := document(t, "testdata/shop.proto").Fill("calls.json", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.80q: error %v, want one line with %q", text, err, want)
		}
	}
}

func TestDataIsBounded(t *testing.T) {
	value := `{"method": "Cancel", "request": {}}` + "\n"
	for want, src := range map[string][]byte{
		"":                             []byte(strings.Repeat(value, maxRequests)),
		"c:10001:1: more than 10000 v": []byte(strings.Repeat(value, maxRequests+1)),
		"c: more than 64 MB":           make([]byte, MostData+1),
	} {
		err := document(t, "testdata/shop.proto").Fill("c", src)
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%d bytes: %v, want %q", len(src), err, want)
		}
	}
}

// A method with many requests does not make too many of the others.
func TestTurn(t *testing.T) {
	d := document(t, "testdata/shop.proto")
	i := slices.IndexFunc(d.Methods, func(m *Method) bool { return m.ID == "Cancel" })
	for range 20 {
		d.Methods[i].requests = append(d.Methods[i].requests, d.Methods[i].requests...)
		if len(d.Methods[i].requests) > maxTurn/len(d.Methods) {
			break
		}
	}
	if _, err := d.App(); err == nil || !strings.Contains(err.Error(), "Cancel has 16384 requests") {
		t.Errorf("%v", err)
	}
}

// What is generated has the versions that this repository's own code was generated
// with, and its generators those of the libraries.
func TestVersions(t *testing.T) {
	version := func(file string) map[string]string {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]string{}
		for line := range strings.Lines(string(src)) {
			if f := strings.Fields(line); len(f) >= 2 && strings.HasPrefix(f[1], "v") {
				found[f[0]] = f[1]
			}
		}
		return found
	}
	const root = "../../../../"
	own, tools := version("plugins/go.mod.txt"), version(root+"tools/go.mod")
	for _, path := range []string{"google.golang.org/protobuf", "google.golang.org/grpc/cmd/protoc-gen-go-grpc", "connectrpc.com/connect", "github.com/grpc-ecosystem/grpc-gateway/v2"} {
		if own[path] == "" || own[path] != tools[path] {
			t.Errorf("%s: %q, and %q in tools", path, own[path], tools[path])
		}
	}
	for leaf, path := range map[string]string{"grpc": "google.golang.org/protobuf", "connect": "connectrpc.com/connect", "gateway": "github.com/grpc-ecosystem/grpc-gateway/v2"} {
		if is := version(root + "contenders/rpc/" + leaf + "/go.mod")[path]; is != own[path] {
			t.Errorf("%s: generated by %s, and the library is %s", path, own[path], is)
		}
	}
}

// Any template is read or refused, and any value of a field that fits into a path
// comes out of it again.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"/v1/{name=shops/*/orders/**}:verb", "/a/*/**", "/{a.b}/{c=x/*}", "/", "{"} {
		f.Add(text, "shops/a/orders/b/c")
	}
	f.Fuzz(func(t *testing.T, template, value string) {
		list, _, err := parseTemplate(template)
		if err != nil {
			return
		}
		for _, s := range list {
			if s.field == "" && s.text == "" {
				t.Errorf("%q has an empty segment: %+v", template, list)
			}
			if s.field != "" && s.matchesForm(value) && strings.Count(value, "/") < len(s.form)-1 && !slices.Contains(s.form, "**") {
				t.Errorf("%q fits %+v", value, s)
			}
		}
	})
}

// FuzzData holds that no file of messages does more than be refused in one line.
func FuzzData(f *testing.F) {
	f.Add([]byte(`{"method": "Cancel", "request": {"number": "7"}}`))
	d, err := Read(f.Context(), "testdata/shop.proto", nil, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		own := &Document{Name: d.Name, file: d.file}
		for _, m := range d.Methods {
			m := *m
			own.Methods = append(own.Methods, &m)
		}
		if err := own.Fill("x", src); err != nil {
			return
		}
		if _, err := own.App(); err != nil {
			t.Errorf("%q: %v", src, err)
		}
		if _, err := own.Calls(); err != nil {
			t.Errorf("%q: %v", src, err)
		}
	})
}
