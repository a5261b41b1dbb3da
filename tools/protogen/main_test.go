package main

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

// What is committed is what the sources give, wherever a line says that this
// program writes it.
func TestCommitted(t *testing.T) {
	line := regexp.MustCompile(`(?m)^//go:generate go run -C \S*tools/protogen \. (.+)$`)
	found := 0
	for _, root := range []string{"../../apps", "../../contenders"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.Name() != "generate.go" {
				return err
			}
			for _, match := range line.FindAllStringSubmatch(string(read(t, path)), -1) {
				found++
				t.Run(filepath.ToSlash(filepath.Dir(path)), func(t *testing.T) {
					j, err := parseFlags(strings.Fields(match[1]), io.Discard)
					if err != nil {
						t.Fatal(err)
					}
					compare(t, j, filepath.Dir(path))
				})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found < 4 {
		t.Errorf("only %d lines are found", found)
	}
}

// compare generates into another folder what j writes into folder dir.
func compare(t *testing.T, j job, dir string) {
	t.Helper()
	committed := j.dir
	j.dir = t.TempDir()
	if err := j.generate(t.Context()); err != nil {
		t.Fatal(err)
	}
	written := 0
	err := filepath.WalkDir(j.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		written++
		name, err := filepath.Rel(j.dir, path)
		if err != nil {
			return err
		}
		if !bytes.Equal(read(t, path), read(t, filepath.Join(committed, name))) {
			t.Errorf("%s is out of date: GOWORK=off go generate in %s", name, dir)
		}
		return nil
	})
	if err != nil || written == 0 {
		t.Errorf("%d files, %v", written, err)
	}
}

func TestRefused(t *testing.T) {
	for source, want := range map[string]string{
		"": "no .proto files",
		"syntax = \"proto3\";\nmessage M {\n  Nothing n = 1;\n}\n":   "bad.proto:3:3",
		"syntax = \"proto3\";\nimport \"google/api/nothing.proto\";": "google/api/nothing.proto",
	} {
		dir := t.TempDir()
		if source != "" {
			write(t, filepath.Join(dir, "bad.proto"), source)
		}
		j := job{plugins: []string{"protoc-gen-go"}, from: dir, dir: dir}
		err := j.generate(t.Context())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", source, err, want)
		}
	}
}

func TestParse(t *testing.T) {
	for _, args := range []string{"", "a b", "-plugin x a"} {
		if j, err := parseFlags(strings.Fields(args), io.Discard); err == nil {
			t.Errorf("%q: %+v", args, j)
		}
	}
	j, err := parseFlags(strings.Fields("-plugins a,b -from f -package p -messages m -drop x,y d"), io.Discard)
	if err != nil || j.dir != "d" || j.from != "f" || j.pkg != "p" || j.messages != "m" || len(j.plugins) != 2 || len(j.drop) != 2 {
		t.Errorf("%+v, %v", j, err)
	}
	if j, err := parseFlags([]string{"d"}, io.Discard); err != nil || j.from != "d" || len(j.plugins) != 1 || j.drop != nil {
		t.Errorf("%+v, %v", j, err)
	}
}

const two = `syntax = "proto3";
package two;

import "google/api/annotations.proto";

// M is asked.
message M {
  int64 id = 1; // which
}

// S asks.
service S {
  // Do does.
  rpc Do(M) returns (M) {
    option (google.api.http) = {get: "/v1/{id}"};
  }
}
`

// TestSplit: services and messages come in two files, comments with them, and
// the rules for HTTP stay or go.
func TestSplit(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "two.proto"), two)
	j := job{from: dir, pkg: "example.test/s", messages: "example.test/m"}
	r, err := j.compileSources(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if p := r.GetParameter(); !strings.Contains(p, "Mtwo.proto=example.test/s") || !strings.Contains(p, "Mmessages/two.proto=example.test/m") {
		t.Error(p)
	}
	m, s := file(t, r, "messages/two.proto"), file(t, r, "two.proto")
	if len(m.GetMessageType()) != 1 || len(m.GetService()) != 0 || len(s.GetMessageType()) != 0 || len(s.GetService()) != 1 {
		t.Errorf("%v\n%v", m, s)
	}
	if a, b := comments(m), comments(s); a != " M is asked.\n which\n" || b != " S asks.\n Do does.\n" {
		t.Errorf("%q %q", a, b)
	}
	if o := s.GetService()[0].GetMethod()[0].GetOptions(); o == nil {
		t.Error("the rule for HTTP is lost")
	}
	j = job{from: dir, pkg: "example.test/s", drop: []string{"google/api/annotations.proto"}}
	if r, err = j.compileSources(t.Context()); err != nil {
		t.Fatal(err)
	}
	whole := file(t, r, "two.proto")
	if o := whole.GetService()[0].GetMethod()[0].GetOptions(); o != nil || len(whole.GetDependency()) != 0 || len(whole.GetMessageType()) != 1 {
		t.Errorf("not dropped: %v", whole)
	}
}

func file(t *testing.T, r *pluginpb.CodeGeneratorRequest, name string) *descriptorpb.FileDescriptorProto {
	t.Helper()
	for _, f := range r.GetProtoFile() {
		if f.GetName() == name {
			return f
		}
	}
	t.Fatalf("no %s", name)
	return nil
}

func comments(f *descriptorpb.FileDescriptorProto) string {
	text := ""
	for _, l := range f.GetSourceCodeInfo().GetLocation() {
		if len(l.GetPath()) > 1 {
			text += l.GetLeadingComments() + l.GetTrailingComments()
		}
	}
	return text
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
