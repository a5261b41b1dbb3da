package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is committed is what the sources give.
func TestCommitted(t *testing.T) {
	for _, dir := range []string{"../../contenders/codec/protobuf/model"} {
		fresh := t.TempDir()
		sources, err := filepath.Glob(filepath.Join(dir, "*.proto"))
		if err != nil {
			t.Fatal(err)
		}
		for _, source := range sources {
			write(t, filepath.Join(fresh, filepath.Base(source)), string(read(t, source)))
		}
		if err := generate(t.Context(), fresh, []string{"protoc-gen-go"}); err != nil {
			t.Fatal(err)
		}
		for _, source := range sources {
			name := strings.TrimSuffix(filepath.Base(source), ".proto") + ".pb.go"
			if !bytes.Equal(read(t, filepath.Join(fresh, name)), read(t, filepath.Join(dir, name))) {
				t.Errorf("%s is out of date: GOWORK=off go generate in %s", name, dir)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	for source, want := range map[string]string{
		"": "no .proto files",
		"syntax = \"proto3\";\nmessage M {\n  Nothing n = 1;\n}\n": "bad.proto:3:3",
	} {
		dir := t.TempDir()
		if source != "" {
			write(t, filepath.Join(dir, "bad.proto"), source)
		}
		err := generate(t.Context(), dir, []string{"protoc-gen-go"})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", source, err, want)
		}
	}
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
