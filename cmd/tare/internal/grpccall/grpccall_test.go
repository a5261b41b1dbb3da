package grpccall_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tarebench/tare/cmd/tare/internal/grpccall"
	"github.com/tarebench/tare/cmd/tare/internal/grpccall/grpctest"
)

// written puts the server's files into a directory.
func written(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range grpctest.Files() {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// started is a server's host:port.
func started(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

func TestMethods(t *testing.T) {
	file := filepath.Join(written(t), "shop.proto")
	for name, kind := range map[string]string{"Get": "unary", "List": "server stream", "Put": "client stream", "Talk": "bidirectional stream"} {
		compiled, err := grpccall.Compile(t.Context(), file, nil, "/shop.v1.Shop/"+name)
		if err != nil {
			t.Fatal(err)
		}
		if compiled.Kind() != kind || compiled.Stream() == (kind == "unary") {
			t.Errorf("%s is a %s", name, compiled.Kind())
		}
		for _, version := range []string{"v1", "v1alpha"} {
			s, err := grpctest.New(version)
			if err != nil {
				t.Fatal(err)
			}
			asked, err := grpccall.Reflect(t.Context(), to(started(t, s)), "/shop.v1.Shop/"+name)
			if err != nil || asked.Kind() != kind {
				t.Errorf("%s by reflection %s: %v", name, version, err)
			}
		}
	}
}

func to(addr string) grpccall.Server {
	return grpccall.Server{Addr: addr, Host: addr, Timeout: 5 * time.Second}
}

func TestMessages(t *testing.T) {
	file := filepath.Join(written(t), "shop.proto")
	for _, c := range []struct{ method, data, want, err string }{
		{"Get", `{}`, "", ""},
		{"Get", `{"id":"7"} {"n":1}`, "\n\x017|\x10\x01", ""},
		{"Get", `{"at":"1970-01-01T00:00:01Z"}`, "\x1a\x02\x08\x01", ""},
		{"List", `{"id":"7"}`, "\x00\x00\x00\x00\x03\n\x017", ""},
		{"Put", `[{"id":"a"},{"count":"2"}]`, "\x00\x00\x00\x00\x03\n\x01a\x00\x00\x00\x00\x02\x10\x02", ""},
		{"Put", `[]`, "", ""},
		{"Talk", `{"n":1}`, "\x00\x00\x00\x00\x02\x10\x01", ""},
		{"Get", `{"idd":"7"}`, "", `value 1: not a shop.v1.Ask: `},
		{"Get", `{"id":"7"} {"n":"x"}`, "", "value 2: not a shop.v1.Ask: "},
		{"Get", `{"id":`, "", "value 1: unexpected EOF"},
		{"Get", `{}{}{}{}`, "", "more than 3 values"},
	} {
		m, err := grpccall.Compile(t.Context(), file, nil, "/shop.v1.Shop/"+c.method)
		if err != nil {
			t.Fatal(err)
		}
		bodies, err := m.Bodies(strings.NewReader(c.data), 3)
		if c.err != "" {
			if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "\u00a0", " "), c.err) {
				t.Errorf("%s %s: %v", c.method, c.data, err)
			}
			continue
		}
		var got []string
		for _, b := range bodies {
			got = append(got, string(b))
		}
		if text := strings.Join(got, "|"); err != nil || text != c.want {
			t.Errorf("%s %s: %q, %v", c.method, c.data, text, err)
		}
	}
}

func TestAnswers(t *testing.T) {
	m, err := grpccall.Compile(t.Context(), filepath.Join(written(t), "shop.proto"), nil, "/shop.v1.Shop/List")
	if err != nil {
		t.Fatal(err)
	}
	good := "\x00\x00\x00\x00\x03\n\x01a"
	for text, want := range map[string]string{
		"": "", good: "", good + good: "", "\x00\x00": "half a prefix", good[:7]: "shorter than its prefix", "\x00\x00\x00\x00\x01\xff": "not a common.Item",
	} {
		if err := m.Check([]byte(text)); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// file is the field of an answer with a descriptor of a file, and of what it imports.
func file(name string, imports ...string) []byte {
	const name1, dependency3, files4 = 1, 3, 4
	f := protowire.AppendString(protowire.AppendTag(nil, name1, protowire.BytesType), name)
	for _, i := range imports {
		f = protowire.AppendString(protowire.AppendTag(f, dependency3, protowire.BytesType), i)
	}
	descriptor1 := protowire.AppendTag(nil, 1, protowire.BytesType)
	return append(protowire.AppendTag(nil, files4, protowire.BytesType), protowire.AppendBytes(nil, protowire.AppendBytes(descriptor1, f))...)
}

// replies is a server that answers the n-th question about itself with fields.
func replies(answer func(n int) []byte) http.Handler {
	var n atomic.Int32
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		msg := answer(int(n.Add(1)) - 1)
		w.Header().Set("Trailer", "Grpc-Status")
		_, _ = w.Write(append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(msg))), msg...))
		w.Header().Set("Grpc-Status", "0")
	})
}

// TestSourcesAreBounded: a source has so many bytes, and so many are read, those that
// others import included.
func TestSourcesAreBounded(t *testing.T) {
	dir := t.TempDir()
	source := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("syntax = \"proto3\";\n"+text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	large := source("large.proto", strings.Repeat(" ", 16<<20))
	var many strings.Builder
	for i := range 1000 {
		name := fmt.Sprintf("n%d.proto", i)
		source(name, "")
		fmt.Fprintf(&many, "import %q;\n", name)
	}
	for file, want := range map[string]string{
		large: "large.proto has more than 16 MB",
		source("imports.proto", "import \"large.proto\";"): "large.proto has more than 16 MB",
		source("many.proto", many.String()):                "more than 1000 files are imported",
		dir:                                                "is not a file",
	} {
		if _, err := grpccall.Load(t.Context(), file, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", file, err, want)
		}
	}
}

func TestWhatCannotBeFound(t *testing.T) {
	dir := written(t)
	bad := filepath.Join(dir, "bad.proto")
	if err := os.WriteFile(bad, []byte("syntax = \"proto3\";\nimport \"nowhere.proto\";\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	shop := filepath.Join(dir, "shop.proto")
	for _, c := range []struct{ file, path, want string }{
		{shop, "/shop.v1.Shop/Nothing", `has no method "Nothing": it has Get, List, Put, Talk`},
		{shop, "/shop.v1.Other/Get", `shop.proto has no service "shop.v1.Other": it has shop.v1.Shop`},
		{filepath.Join(dir, "common/item.proto"), "/a.B/C", "item.proto has no service"},
		{shop, "/Get", "is not /package.Service/Method"},
		{bad, "/a.B/C", "nowhere.proto"},
		{filepath.Join(dir, "none.proto"), "/a.B/C", "none.proto"},
	} {
		if _, err := grpccall.Compile(t.Context(), c.file, nil, c.path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v", c.file, c.path, err)
		}
	}
	control := filepath.Join(dir, "control.proto")
	if err := os.WriteFile(control, []byte("syntax = \"proto3\";"+strings.Repeat("\x01", 2000)), 0o644); err != nil {
		t.Fatal(err)
	}
	var wrong *grpccall.SourceError
	if _, err := grpccall.Compile(t.Context(), control, nil, "/a.B/C"); !errors.As(err, &wrong) || wrong.More > 101 {
		t.Errorf("2000 errors on one line: %v", err)
	}
	if _, err := grpccall.Compile(t.Context(), filepath.Join(dir, "common/item.proto"), []string{dir}, "/a.B/C"); err == nil || !strings.Contains(err.Error(), "no service") {
		t.Errorf("imported by another name: %v", err)
	}
	silent, err := grpctest.New("")
	if err != nil {
		t.Fatal(err)
	}
	speaks, err := grpctest.New("v1")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		h          http.Handler
		path, want string
	}{
		{silent, "/shop.v1.Shop/Get", "does not answer questions about itself"},
		{speaks, "/shop.v1.Shop/Nothing", `has no method "Nothing"`},
		{speaks, "/other.Shop/Get", "the server says: no other.Shop"},
		{speaks, "/shop.v1.Shoppe/Get", `no service "shop.v1.Shoppe"`},
		{http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), "/a.B/C", "no answer of gRPC: 200 OK"},
		{http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Grpc-Status", "0")
			for some := make([]byte, 1<<20); ; {
				if _, err := w.Write(some); err != nil {
					return
				}
			}
		}), "/a.B/C", "answers of more than 67108864 bytes"},
		{replies(func(int) []byte { return slices.Repeat(file(""), 1001) }), "/a.B/C", "more than 1000 files"},
		{replies(func(n int) []byte { return file(fmt.Sprint(n), fmt.Sprint(n+1)) }), "/a.B/C", "more than 1000 files"},
		{replies(func(n int) []byte {
			return append(file(fmt.Sprint(n), fmt.Sprint(n+1)), file(fmt.Sprint(n)+strings.Repeat("x", 10<<20))...)
		}), "/a.B/C", "answers of more than 67108864 bytes"},
	} {
		if _, err := grpccall.Reflect(t.Context(), to(started(t, c.h)), c.path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.path, err, c.want)
		}
	}
}
