package grpccall_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
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
	return grpccall.Server{Addr: addr, Host: addr, Timeout: time.Minute}
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

// allocated is how many bytes of memory do takes in all.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestCheckTakesLittle: fields are counted before they are decoded, and what has too
// many is not decoded.
func TestCheckTakesLittle(t *testing.T) {
	if testing.Short() {
		t.Skip("checks a large description")
	}
	path := filepath.Join(t.TempDir(), "tree.proto")
	if err := os.WriteFile(path, []byte(`syntax = "proto2";
message Tree { repeated Tree tree = 1; map<int32, Tree> named = 2; repeated int32 number = 3 [packed = true]; repeated float real = 4 [packed = true]; repeated group Part = 5 { optional Tree in = 1; } optional string text = 6; }
service S { rpc Get(Tree) returns (Tree); }
`), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := grpccall.Compile(t.Context(), path, nil, "/S/Get")
	if err != nil {
		t.Fatal(err)
	}
	check := func(msg []byte) error {
		return m.Check(append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(msg))), msg...))
	}
	const fields = 128 << 20 / 512 // that are decoded
	for name, c := range map[string]struct {
		part string
		n    int // parts that are decoded
	}{
		"messages":                 {"\x0a\x00", fields},
		"messages with maps":       {"\x0a\x02\x12\x00", fields / 2},
		"groups with messages":     {"\x2b\x0a\x00\x2c", fields / 2},
		"packed numbers":           {"\x1a\x7f" + strings.Repeat("\x01", 127), 128 << 20 / (512 + 127*32)},
		"packed numbers of 4 each": {"\x22\x7c" + strings.Repeat("\x01", 124), 128 << 20 / (512 + 31*32)},
		"unknown fields":           {"\x78\x01", fields},
	} {
		most := bytes.Repeat([]byte(c.part), c.n)
		if err := check(most); err != nil {
			t.Errorf("%d %s: %v", c.n, name, err)
		}
		wrong := append([]byte("\x0a\x01\xff"), most[len(c.part):]...)
		if err := check(wrong); err == nil || !strings.Contains(err.Error(), "not a Tree: ") {
			t.Errorf("%d %s, one of them wrong: %v", c.n, name, err)
		}
		if took := allocated(func() { err = check(bytes.Repeat([]byte(c.part), 16<<20/len(c.part))) }); err != nil || took > 64<<20 {
			t.Errorf("16 MiB of %s take %d MB, %v", name, took>>20, err)
		}
	}
	if err := check([]byte("\x32\x7f" + strings.Repeat("\x0a", 127))); err != nil {
		t.Errorf("text: %v", err)
	}
	nested := func(n int) []byte {
		var msg []byte
		for range n {
			msg = protowire.AppendBytes([]byte{0x0a}, msg)
		}
		return msg
	}
	if err := check(nested(100)); err != nil {
		t.Error(err)
	}
	if err := check(nested(20_000)); err == nil || !strings.Contains(err.Error(), "messages in messages, more than 100 deep") {
		t.Error(err)
	}
}

// TestReflectionTakesLittle: what files take is counted before they are decoded, of
// all files together.
func TestReflectionTakesLittle(t *testing.T) {
	described := func(f []byte) []byte {
		return protowire.AppendBytes([]byte{4<<3 | 2}, protowire.AppendBytes([]byte{1<<3 | 2}, f))
	}
	message, method := []byte{4<<3 | 2, 0}, []byte{6<<3 | 2}
	http := protowire.AppendBytes(protowire.AppendTag(nil, 72295728, protowire.BytesType), bytes.Repeat([]byte{11<<3 | 2, 0}, 1<<20))
	method = protowire.AppendBytes(method, protowire.AppendBytes([]byte{2<<3 | 2}, protowire.AppendBytes([]byte{4<<3 | 2}, http)))
	for name, f := range map[string][]byte{
		"one file":      described(bytes.Repeat(message, 16<<20)),
		"many files":    bytes.Repeat(described(bytes.Repeat(message, 2000)), 600),
		"an annotation": described(method),
	} {
		var err error
		took := allocated(func() {
			_, err = grpccall.Reflect(t.Context(), to(started(t, replies(func(int) []byte { return f }))), "/a.B/C")
		})
		if err == nil || err.Error() != "descriptions of files that take more than 536870912 bytes of memory" || took > 640<<20 {
			t.Errorf("%s takes %d MB: %v", name, took>>20, err)
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

// TestImportErrors: an import that is missing is named as the file has it, and what is
// wrong in a file by the path that opens it.
func TestImportErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	for path, text := range map[string]string{
		"up.proto":         `import "../common/none.proto";`,
		"dot.proto":        `import "./none.proto";`,
		"deep/in.proto":    `import "deep/none.proto";`,
		"below.proto":      `import "dot.proto/none.proto";`,
		"chain.proto":      `import "deep/in.proto";`,
		"wrong.proto":      `message A { B b = 1; }`,
		"deep/wrong.proto": `import "wrong.proto";`,
		"of.proto":         `import "deep/types.proto";`,
		"deep/types.proto": `message A { B b = 1; }`,
		"deep/same.proto":  `message A { C c = 1; }`,
		"same.proto":       `message A {}`,
		"dir.proto/x":      ``,
		"folder.proto":     `import "dir.proto";`,
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("syntax = \"proto3\";\n"+text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		file    string
		imports []string
		want    string
	}{
		{"up.proto", []string{"deep"}, "up.proto:2:8: there is no ../common/none.proto in deep, ."},
		{"dot.proto", nil, "dot.proto:2:8: there is no ./none.proto in ."},
		{"deep/in.proto", []string{".", "deep"}, "deep/in.proto:2:8: there is no deep/none.proto in ., deep"},
		{"below.proto", []string{"."}, "below.proto:2:8: there is no dot.proto/none.proto in ."},
		{"chain.proto", []string{"deep/.."}, "deep/in.proto:2:8: there is no deep/none.proto in ."},
		{"of.proto", nil, "deep/types.proto:2:13: field A.b: unknown type B"},
		{"folder.proto", nil, "folder.proto:2:8: dir.proto is not a file"},
		{"./deep/wrong.proto", []string{"."}, "wrong.proto:2:13: field A.b: unknown type B"},
		{"./deep/same.proto", []string{"dir.proto"}, "./deep/same.proto:2:13: field A.c: unknown type C"},
		{"none.proto", nil, "cannot read none.proto: "},
	} {
		if _, err := grpccall.Load(t.Context(), c.file, c.imports); err == nil || !strings.HasPrefix(filepath.ToSlash(err.Error()), c.want) {
			t.Errorf("%s, -I %q: %v, want %q", c.file, c.imports, err, c.want)
		}
	}
	if err := os.Rename("same.proto", "dir.proto/same.proto"); err != nil {
		t.Fatal(err)
	}
	if _, err := grpccall.Load(t.Context(), "deep/same.proto", []string{"dir.proto"}); err == nil || !strings.Contains(err.Error(), "unknown type C") {
		t.Errorf("another file of that name was compiled: %v", err)
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
		{speaks, "/other.Shop/Get", "the server reports: no other.Shop"},
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
